/** Every text that a person reads on the page, by panel. A copy of this file in another language is
 * the whole translation of the page; the texts of presets, tour and challenges are in presets/.
 *
 * A text with values is a function. It gets plain numbers and names, and knows plurals itself. */

import { degrees, say, sayDown, sayUp, sayVector } from "./numbers.js";

/** @param {string} noun @param {number} count */
const plural = (noun, count) => (count === 1 ? noun : `${noun}s`);

/** @param {number} count @param {string} noun */
const counted = (count, noun) => `${say(count)} ${plural(noun, count)}`;

/** What the run counts.
 * @param {boolean} updates with a threshold, updates; otherwise mistakes @param {number} count */
const events = (updates, count) => plural(updates ? "update" : "mistake", count);

/** @param {boolean} bias */
const aLine = (bias) => (bias ? "line" : "line through the origin");

/** @param {number} period */
const rounds = (period) => (period === 1 ? "round" : `${period} rounds`);

/** Rows count from 1. @param {number[]} rows */
const numbers = (rows) => rows.map((row) => row + 1).join(", ");

/** The names that a menu shows, by the name in a question. @type {Record<string, string>} */
const NAMES = {
  "": "nothing",
  max_distance: "max distance",
  max_residual: "max residual",
  line: "w",
  voted: "the vote of all w",
  rbf: "a kernel: RBF",
  poly: "a kernel: degree 2",
  network: "a network for XOR",
};

/** @param {string} name */
const nameOf = (name) => NAMES[name] ?? name;

/** Why a run was stopped, by the reason in an answer. @type {Record<string, string>} */
const STOPS = {
  "the limit on epochs": "the limit on epochs",
  "the limit on updates": "the limit on updates",
};

export const words = {
  page: {
    title: "novikoff lab",
    answers: (/** @type {string} */ host) => `answers: ${host}`,
    gone: "The server does not answer. Start novikoff lab again; this page then continues by itself.",
    badLink: (/** @type {string} */ why) => `The link in this address cannot be opened. ${why}`,
    noChallenge: (/** @type {string} */ name) => `There is no challenge “${name}”.`,
    library: "library",
    compiling: (/** @type {string} */ part) => `Compiling the ${part} …`,
    waiting: "…",
    moving: (/** @type {number | null} */ row) =>
      `The arrow keys move ${row === null ? "the handle" : `row ${row + 1}`} (with Shift, ten times as far). ` +
      "Enter or Escape ends this.",
  },

  hosts: {
    library: "the library",
    aboutLibrary:
      "The library novikoff answers. It proves the verdict and the bounds; Export, Certificate saves the " +
      "proof, and novikoff verify checks it against the points.",
    alone: "this page",
    aboutAlone:
      "This page answers by itself, without the library. Its verdicts, margins and bounds are computed in " +
      "exact arithmetic, and tests compare its answers with those of the library. novikoff lab, on your machine, also " +
      "saves a certificate.",
  },

  tools: {
    tour: "Tour",
    link: "Link",
    export: "Export",
    present: "Present",
    help: "Help",
    data: "Data ",
    own: "your own",
    challenges: "Challenges",
    paste: "Paste a table, or open a file",
    clear: "Remove all points",
    order: "Order ",
    seed: "seed ",
    anotherSeed: "Another seed",
    bias: " bias",
    reference: "w*",
    best: "best",
    mine: "mine",
    newPoint: "New point",
    plus: "plus",
    minus: "minus",
    flip: "Flip the label",
    remove: "Delete the point",
    undo: "Undo",
    nameOf,
  },

  more: {
    title: "More",
    sides: "shade the sides of ",
    beside: "compare with ",
    besideNote: "the run of another order or rule",
    averaged: " the averaged line (teal)",
    stepSize: "step size μ ",
    stepSizeNote: "has no effect if w₀ = 0 and δ = 0",
    threshold: "threshold δ ",
    thresholdNote: "updates when ⟨a, w⟩ ≤ δ",
    start: "start w₀ ",
    startNote: "w₁, w₂, bias",
    badStart: (/** @type {string} */ typed, /** @type {string} */ kept) =>
      `w₀ must be three numbers, for example 0, 1, -2.5. “${typed}” is not. The run still starts at ${kept}.`,
    rule: "rule ",
    moves: "data ",
    double: "× 2",
    halve: "÷ 2",
    left: "Move all left by 1",
    right: "Move all right by 1",
    up: "Move all up by 1",
    down: "Move all down by 1",
    movesNote: "scaling and moving the data change R, γ and the bound",
  },

  files: {
    svg: "Picture (SVG)",
    png: "Picture (PNG)",
    html: "One offline page (HTML)",
    csv: "Points (CSV)",
    python: "Python script",
    certificate: "Certificate",
    embed: "Copy a line to embed it",
    linkCopied: (/** @type {boolean} */ local) =>
      `The link is copied. It restores these points, this order and this moment.${local ?
        " On another machine, put the part after # behind the address of a copy of this page." : ""}`,
    linkNotCopied: "Copy the address of this page from the address bar: it restores everything.",
    embedCopied:
      "The line is copied. In it, embed= names the parts: plane, proof, space, step, leaf, inner, norm, angle.",
    wholeLab: "whole lab ↗",
    openWholeLab: "Open the whole lab",
    failed: (/** @type {string} */ file, /** @type {string} */ why) => `${file}: ${why}`,
  },

  table: {
    title: "Paste a table",
    label: "A table: x₁, x₂, label",
    placeholder: "x1,x2,label\n0.5,1.2,+1\n-1,0.3,-1",
    how: "Each line has two numbers and one of two labels. You can also drop a file on the plane.",
    file: "or open a file ",
    use: "Use it",
    cancel: "Cancel",
    empty: "The table has no rows. A row is x₁, x₂, label.",
    labels: (/** @type {number} */ count) => `The third column has ${count} different labels. The lab draws two.`,
    noNumber: (/** @type {number} */ line, /** @type {string} */ cell) => `Line ${line} of the table has “${cell}”, which is not a number.`,
    noLabel: (/** @type {number} */ line, /** @type {string} */ cell) => `Line ${line} of the table has the label “${cell}”, which is not a label.`,
    missing: (/** @type {number} */ line) => `Line ${line} of the table has no label. A row is x₁, x₂, label.`,
    blank: (/** @type {number} */ line) => `Line ${line} of the table is empty.`,
    badLine: (/** @type {number} */ line) => `Line ${line} of the table is not x₁, x₂, label.`,
  },

  timeline: {
    moment: "The moment of the run",
    speed: "Speed of the player",
    times: (/** @type {number} */ speed) => `${speed} ×`,
    first: "To the start",
    previous: "Previous mistake",
    back: "One row back",
    play: "Play",
    pause: "Pause",
    step: "One row forward",
    next: "Next mistake",
    last: "To the end",
    where: (/** @type {number} */ t, /** @type {number | null} */ of) =>
      `t = ${t}${of === null ? "" : ` of ${of}`}`,
  },

  predict: {
    button: "Predict",
    title: "Predict: what will the perceptron do?",
    guess: "Your guess",
    howMany: (/** @type {boolean} */ updates) => `How many ${events(updates, 2)} will the perceptron make?`,
    submit: "That is my guess",
    never: "It never ends",
    toEnd: "Show the rest",
    reveal: "Reveal",
    end: "End",
    click: " Click a point, or reveal it.",
    heard: (/** @type {number} */ count) => `You say ${count}. `,
    heardNever: "You say that it never ends. ",
    whichFirst: "Which row causes the first update?",
    whichNext: " Which row causes the next update?",
    row: (/** @type {number} */ row, /** @type {number | null} */ guess) =>
      `${guess === null ? "It" : guess === row ? "Yes! It" : `Not row ${guess + 1}: it`} was row ${row + 1}.`,
    /** How a run that ends compares with a guess, "" for none. @param {number} made @param {boolean} updates
     * @param {string} guess @param {boolean} never whether the guess is that it never ends */
    ended: (made, updates, guess, never) => {
      const error = Number(guess) - made;
      const judged = never
        ? "You said that it never ends: it does end."
        : `You said ${guess}: ${error === 0 ? "exactly right" : `${Math.abs(error)} too ${error < 0 ? "few" : "many"}`}.`;
      return `The run made ${made} ${events(updates, made)}.${guess ? ` ${judged}` : ""}`;
    },
    /** @param {number} made @param {boolean} updates @param {string} guess @param {boolean} never
     * @param {boolean | null} ends whether the run ends, if this is known */
    longer: (made, updates, guess, never, ends) => {
      const judged = ends === null ? "" : ends ? ": it does end" : ": right";
      const yours = !guess ? "" : never ? ` You said that it never ends${judged}.` : ` You said ${guess}.`;
      return `The run makes at least ${made} ${events(updates, made)}, more than are shown.${yours}`;
    },
    /** @param {string} guess @param {boolean} never */
    endless: (guess, never) => {
      const yours = !guess
        ? ""
        : never
          ? " You said that it never ends: right."
          : ` You said ${guess}: not right.`;
      return `The run never ends: no line separates the points, so every w misclassifies a row.${yours}`;
    },
  },

  help: {
    title: "How to use it",
    rows:
      "Each point with its label y, +1 or −1, is a row a = y·(x₁, x₂, 1). The perceptron visits the rows in turn. If " +
      "⟨a, w⟩ = a₁w₁ + a₂w₂ + a₃w₃ ≤ 0, it misclassifies the row and adds a to w. t counts these updates.",
    keys: [
      ["Click, or A", "adds a point of the chosen label; a right-click adds one of the other label"],
      ["Drag", "moves the nearest point"],
      ["N and P", "select the next and the previous point"],
      [
        "Enter",
        "lets the arrow keys move the selected point (with Shift, ten times as far), until Enter or Escape",
      ],
      ["Double-click, or F", "flips the label of the point"],
      ["Delete", "removes the point; Ctrl-Z brings it back"],
      ["→ ←, Page keys", "next and previous mistake"],
      ["K and J", "one row forward, one row back"],
      ["Home, End, Space", "start, end, play"],
      ["S, Shift-S", "next and previous scene of the tour"],
      ["1 to 6", "open a panel: weight space, this step, the proof in one chart, and its three inequalities"],
    ],
    rounding: " γ is shown rounded down, R and the bounds rounded up, λ to the nearest digit.",
    close: "Close",
    dialog: "Dialog",
  },

  tour: {
    label: "Tour",
    heading: (/** @type {number} */ scene, /** @type {number} */ of, /** @type {string} */ title) =>
      `${scene} of ${of}: ${title}`,
    minutes: (/** @type {number} */ minutes) => `${minutes} minutes`,
    answer: "Answer",
    previous: "Previous scene",
    next: "Next scene",
    end: "End the tour",
  },

  challenge: {
    label: "Challenge",
    heading: (/** @type {string} */ title) => `Challenge: ${title}`,
    end: "End the challenge",
    place: "Place points.",
    solved: "Solved! Link copies your solution.",
    sameClaim: "The link says the same.",
    otherClaim: (/** @type {string} */ claim) => `The link says: ${claim}.`,
    threePoints: "At least three points with both labels, which a line separates.",
    plainBest: "The plain perceptron counts: the best w*, w₀ = 0 and δ = 0.",
    plainBias: "The plain perceptron counts: a bias, w₀ = 0 and δ = 0.",
    onlyLabels: "Only labels may change: undo what moved.",
    onlyOrder: "Only the order and its seed may change: undo the rest.",
    onlyLine: "Only the line may move: undo the rest.",
    compare: "Compare with the cyclic order.",
    chooseMine: "Choose w*: mine, and drag the two handles of the line.",
    ofBound: (/** @type {number} */ made, /** @type {string} */ bound) => `${made} of ${bound} mistakes`,
    flipped: (/** @type {number} */ flips, /** @type {boolean} */ separable) =>
      `${counted(flips, "label")} flipped${separable ? ", and a line separates" : ""}`,
    instead: (/** @type {number} */ made, /** @type {number} */ plain) =>
      `${made} mistakes instead of ${plain}`,
    mistakes: (/** @type {number} */ count) => counted(count, "mistake"),
  },

  plane: {
    panel: "Data plane",
    label: "The data plane, with one element per point",
    legend: {
      "line-now": "w now",
      "line-star": "w*, its margin, ringed support vectors",
      "line-weak": "separates weakly",
      "line-before": "w before",
      "line-pocket": "fewest mistakes found",
      "line-beside": "end of the compared run",
    },
    units: "x₁ and x₂ are drawn in different units.",
    noLine: "w = 0: there is no line.",
    outside: "The line of w is outside this picture.",
    at: (/** @type {string} */ row, /** @type {number} */ x, /** @type {number} */ y) =>
      `${row} at ${say(x)}, ${say(y)}`,
    product: (/** @type {number} */ m) => `⟨a, w⟩ = ${say(m)} ${m > 0 ? "> 0: correct" : "≤ 0: a mistake"}`,
    projection: (/** @type {number} */ length) => `projection of a on w: ${say(length)}`,
    angle: (/** @type {number} */ cosine) => {
      const compared = cosine > 0 ? "less than 90°" : cosine < 0 ? "more than 90°" : "a right angle";
      return `angle between a and w: ${degrees(cosine)}, ${compared}`;
    },
    distance: (/** @type {number} */ distance) => `distance from the line: ${say(distance)}`,
    weight: (/** @type {number} */ weight) => `λ = ${say(weight, 2)}`,
    point: (/** @type {number} */ row, /** @type {Point} */ [x, y, label], /** @type {boolean} */ support) =>
      `Row ${row + 1}, ${label > 0 ? "plus" : "minus"}, at ${say(x)}, ${say(y)}${support ? ", a support vector" : ""}`,
    handleOfLine: (/** @type {number} */ handle) => `Handle ${handle + 1} of your own line`,
    tip: "The tip of w: turns it",
    foot: "The foot of w: moves its line",
    drag: (/** @type {string} */ handle) => `${handle}. Drag it, or press Enter and use the arrow keys`,
  },

  space: {
    title: "Weight space",
    sky: "Weight space: directions around w*",
    cone: "Weight space: the plane of w",
    later: "Weight space shows whether a solution exists. It is shown after the prediction.",
    start:
      "A point x with label y excludes all weights with y·(⟨w, x⟩ + b) ≤ 0. Add points of both labels to see " +
      "which weights are left.",
    skyText:
      "A dot is a direction of (w, b). w* is in the middle, and the edge is 90° away. Each row excludes one side " +
      "of its arc; the shaded cell holds all solutions.",
    coneText: "Each row excludes half of the plane; the shaded cone holds all solutions.",
    noRing: "No ring bounds this rule: it also updates without a mistake.",
    wrongLine: "Your own line misclassifies rows, so it proves nothing, and there is no ring.",
    ring: (/** @type {boolean} */ bias) =>
      `The violet ${bias ? "ring" : "wedge"} is the third inequality: wₜ cannot leave it.`,
    closes: (/** @type {string} */ bound, /** @type {string} */ formula) =>
      ` It closes after at most ${bound} updates, that is ${formula}.`,
    shrinks: (/** @type {string} */ bound, /** @type {number} */ count) =>
      ` It shrinks with every mistake and closes at t = R²/γ², after at most ${bound} ${events(false, count)}.`,
    loop: (/** @type {boolean} */ strictly) =>
      `Why no line separates${strictly ? " strictly" : ""}: Σ λ·a = 0`,
    loopText:
      "A line that separates the points has ⟨a, w⟩ > 0 for every row, so Σ λ⟨a, w⟩ > 0. But this sum is " +
      "⟨Σ λ·a, w⟩ = 0, because the arrows λ·a form a closed loop.",
    strictly: (/** @type {string} */ apart, /** @type {string} */ others) =>
      `Strictly separated: rows ${apart}. On the line: rows ${others}.`,
    columns: ["row", "λ", "a = y·(x₁, x₂, 1)"],
  },

  step: {
    title: "This step in numbers",
    titleOf: (/** @type {number} */ t) => `Update ${t} in numbers`,
    picture: "w plus a, as arrows",
    empty: "A mistake on row a changes w to w + a. Nothing else changes w.",
    columns: ["w₁", "w₂", "bias"],
    before: "w before",
    added: (/** @type {boolean} */ acted, /** @type {number} */ tau) =>
      `${acted ? "+" : ""} ${tau === 1 ? "" : `${say(tau)}·`}a`,
    after: "w after",
    notYet: "No row has been visited yet.",
    vector: (/** @type {string} */ row, /** @type {boolean} */ bias) =>
      `a = y·(x₁, x₂${bias ? ", 1" : ""}) of ${row}`,
    /** ‖w + a‖², term by term. @param {number} w @param {number} a @param {number} sum */
    squares: (w, a, sum) => {
      const cross = sum - w - a;
      const angle = cross < 0 ? "The angle is more than 90°, so this is less than" :
        cross > 0 ? "The angle is less than 90°, so this is more than" : "At a right angle this equals";
      const terms = `${say(w, 3)} ${cross < 0 ? "−" : "+"} ${say(Math.abs(cross), 3)} + ${say(a, 3)} = ${say(sum, 3)}`;
      return `‖w + a‖² = ‖w‖² + 2⟨a, w⟩ + ‖a‖² = ${terms}.${w && a ? ` ${angle} ‖w‖² + ‖a‖².` : ""}`;
    },
    mistakes: (/** @type {number} */ made) => counted(made, "mistake"),
    among: (/** @type {number} */ t, /** @type {number} */ made) =>
      `${counted(t, "update")}, among them ${counted(made, "mistake")}`,
    aggressive: (/** @type {string} */ soFar) => `${soFar}; R²/γ² does not bound this rule.`,
    unbounded: (/** @type {string} */ soFar, /** @type {boolean} */ mine) =>
      `${soFar} so far; ${mine ? "your w* has no margin, so it gives no bound" : "without a margin there is no bound"}.`,
    /** The words before and after the count in bold.
     * @param {string} bound @param {boolean} updates @param {number} made */
    budget: (bound, updates, made) => [
      updates ? "updates " : "mistakes ",
      ` of at most ${bound}${updates ? `, ${counted(made, "mistake")} among them` : ""}`,
    ],
    pocket: (/** @type {number} */ now, /** @type {number} */ kept, /** @type {number} */ since) =>
      `misclassified rows: w ${now}, pocket ${kept} (w after update ${since})`,
    /** The mistakes of the compared run: in all, and in as many visits as are shown; null if this is not
     * known.
     * @param {string} name @param {number} all @param {boolean} ended
     * @param {[number, number] | null} shown mistakes and visits */
    compared: (name, all, ended, shown) => {
      const some = shown ? `, ${shown[0]} of them in the first ${shown[1]} visits` : "";
      return `Compared, ${nameOf(name)}: ${counted(all, "mistake")} ${ended ? "in all" : "until it was stopped"}${some}.`;
    },
  },

  story: {
    undecided: [
      "It is not decided whether a w* with a margin γ > 0 exists.",
      "… and whether mistakes end is not decided.",
    ],
    hopeless: [
      "No line has a margin γ > 0, so there is no w* toward which every mistake moves w.",
      "… but every w misclassifies a row, so mistakes never end.",
    ],
    /** This rule updates on every row, so it may not make a mistake on the rows that it visits. */
    hopelessAggressive: [
      "No line has a margin γ > 0, so there is no w* toward which every mistake moves w.",
      "… but every w misclassifies a row.",
    ],
    stillAdds: (/** @type {string} */ mu) => `A mistake still adds at most ${mu}R² to ‖w‖²`,
    wrongMine: "Your w* misclassifies rows, so a mistake need not move w along it.",
    provesNothing: "So your w* proves nothing; the best w* does.",
    aggressive: [
      "Every update moves w along w* by at least γ …",
      "… but an update on a correctly classified row can add more than R² to ‖w‖² …",
      "… so R²/γ² does not bound its mistakes.",
    ],
    moves: (/** @type {boolean} */ updates, /** @type {string} */ mu) =>
      `Every ${events(updates, 1)} moves w along w* by at least ${mu}γ …`,
    adds: (/** @type {string} */ growth) => `… but adds at most ${growth} to ‖w‖² …`,
    room: (/** @type {string} */ room) => `… and ⟨w*, w⟩ ≤ ‖w‖, so there is only room for ${room}.`,
    roomOf: (
      /** @type {string} */ bound,
      /** @type {boolean} */ updates,
      /** @type {number | null} */ count,
      /** @type {string} */ formula,
    ) => `${bound} ${events(updates, count ?? 2)}: ${formula}`,
    finite: "finitely many",
    plainRoom: "R²/γ² mistakes",
  },

  proof: {
    label: "The proof, inequality by inequality",
    holds: " holds",
    fails: " fails",
    read: (
      /** @type {string} */ formula,
      /** @type {number} */ t,
      /** @type {string} */ text,
      /** @type {boolean | null} */ holds,
    ) => `${formula}: after ${t} updates ${text}${holds === null ? "" : holds ? ", it holds" : ", it fails"}`,
    aggressiveNorm: "This inequality needs mistakes. An update on a correctly classified row can add more.",
    norm: (/** @type {boolean} */ plain) =>
      `${plain
        ? "A mistake has ⟨a, w⟩ ≤ 0, so it adds at most R²"
        : "An update has ⟨a, w⟩ ≤ δ, so it adds at most μ²R² + 2μδ"} to ‖w‖². R is the largest ‖a‖.`,
    inner: (/** @type {boolean} */ plain, /** @type {boolean} */ mu, /** @type {number | null} */ mine) => {
      const whose = mine === null ? "w*" : "your w*";
      const size = mine === null ? "" : `, which is at least ${sayDown(mine)}`;
      const times = mu ? "μ times " : "";
      return `${plain ? "A mistake" : "An update"} moves w along ${whose} by at least ${times}the margin γ${size}.`;
    },
    noMargin: (/** @type {number} */ margin, /** @type {number} */ wrong) =>
      `Your w* has γ ≤ ${sayUp(margin)}: it misclassifies ${wrong}, so it proves nothing.`,
    /** @param {number | null} bound @param {string} text @param {string} formula */
    angle: (bound, text, formula) => {
      const so = bound === null ? "" : `, so t ≤ ${formula}: at most ${text} ${plural("update", bound)}`;
      return `cos ∠(w*, wₜ) is at most 1${so}.`;
    },
    noAngle: "With γ ≤ 0, this inequality says nothing about the angle.",
    generalAngle: "cos ≥ first bound / √second",
    noDirection: "w = 0 has no direction",
    ceiling: "After t updates, no line has a larger margin than this.",
    ceilingTends: " Here the bound tends to 0: there is no margin.",
    ceilingAggressive: " This rule also updates on correctly classified rows, so ‖wₜ‖/t need not tend to 0.",
    noUpdate: "no update yet",
    wrongRows: "misclassified rows",
    searching: "Searching for the line with the fewest mistakes …",
    pocket: (/** @type {boolean} */ bias, /** @type {number | null} */ bound) => {
      const least = bound === null ? "" : ` Every ${aLine(bias)} misclassifies at least ${bound}, proved.`;
      return `w after each update, and the w in the pocket (violet).${least}`;
    },
    /** @param {number} now
     * @param {number | null} kept in the pocket @param {number | null} found @param {number | null} least */
    wrongNow: (now, kept, found, least) => {
      const best = kept !== null ? ` · pocket ${kept}` : found !== null ? ` · fewest found ${found}` : "";
      return `${now} now${best}${least === null ? "" : ` · at least ${least}`}`;
    },
  },

  chart: {
    title: "The proof in one chart",
    aggressive:
      "This rule also updates on correctly classified rows, so ‖wₜ‖ can leave the room of the proof.",
    noMargin: "Your w* has no margin, so it leaves room for any number of mistakes.",
    low: "at least",
    high: "at most",
    closed: (/** @type {string} */ formula, /** @type {string} */ bound) => `⌊${formula}⌋ = ${bound}: no room left`,
    /** @param {boolean} plain @param {boolean} log */
    room: (plain, log) => {
      const line = plain
        ? "t·γ ≤ ⟨w*, wₜ⟩ ≤ ‖wₜ‖ ≤ √t·R"
        : "Below ‖wₜ‖ (black) and above ⟨w*, wₜ⟩ (green) are their bounds";
      return `${line}. The white room closes${log ? " (both axes are logarithmic)" : ""}.`;
    },
    counters: "Mistakes of both rules",
    countersNow: (/** @type {number} */ one, /** @type {number} */ other) => `${one} and ${other}`,
    countersText: (/** @type {string} */ rule, /** @type {string} */ beside) =>
      `Mistakes of this rule (black: ${nameOf(rule)}) and of the compared one (teal: ${nameOf(beside)}) ` +
      "after as many visits.",
    noVisit: "visit 0",
    path: "The path of w",
    repeats: (/** @type {number} */ period) => `The run repeats every ${rounds(period)}`,
    loop: (/** @type {number} */ period) =>
      `After ${period === 1 ? "a round" : rounds(period)} the weights are the same again, so the run never ends. ` +
      "The rows added in the loop sum to 0.",
    allUpdates: "All updates of the run.",
    pathText: "The path of w up to now.",
    projected: " The picture shows w₁ and w₂.",
  },

  /** The sentence about the present moment. */
  moment: {
    row: (/** @type {string} */ number) => `row ${number}`,
    /** @param {Question} question @param {boolean} pocket @param {number[]} w */
    start: ({ bias, order, rule, step_size, threshold }, pocket, w) => {
      const added = step_size === 1 ? "a is added to w" : "μ·a is added to w";
      const acts = rule === "aggressive" ?
        `at every visit ${added}, whether the row is a mistake (⟨a, w⟩ ≤ 0) or not` :
        `if ⟨a, w⟩ ≤ ${say(threshold)}${threshold ? "" : ", which is a mistake,"} ${added}`;
      const turns = pocket ?
        "In each step, a misclassified row a is drawn at random and added to w. If the new w misclassifies " +
        "fewer rows than the w in the pocket, it replaces the w in the pocket" :
        `Rows are visited in ${nameOf(order)} order; ${acts}`;
      const row = `a = y·(x₁, x₂${bias ? ", 1" : ""})`;
      return `Start: w = ${sayVector(w)}. Each point is a row ${row}, where y is its label. ${turns}.`;
    },
    had: (/** @type {string} */ row, /** @type {number} */ m) => `${row} had ⟨a, w⟩ = ${say(m, 3)}`,
    skipped: (
      /** @type {number} */ moment,
      /** @type {number} */ last,
      /** @type {string} */ had,
      /** @type {number} */ threshold,
    ) =>
      `Visit ${moment} of ${last}: ${had} > ${say(threshold)}, so ` +
      `${threshold ? "" : "it is classified correctly and "}w does not change.`,
    move: (/** @type {number} */ tau, /** @type {number[]} */ w) =>
      `w ← w + ${tau === 1 ? "" : `${say(tau)}·`}a = ${sayVector(w)}.`,
    random: (/** @type {number} */ t, /** @type {string} */ had, /** @type {string} */ move) =>
      `Update ${t}: ${had}, a random mistake, so ${move}`,
    aggressive: (
      /** @type {number} */ t,
      /** @type {string} */ had,
      /** @type {boolean} */ correct,
      /** @type {string} */ move,
    ) =>
      `Update ${t}: ${had}, ${correct ? "which is correct, but this rule updates anyway" : "a mistake"}: ${move}`,
    update: (
      /** @type {number} */ t,
      /** @type {string} */ had,
      /** @type {number} */ threshold,
      /** @type {string} */ move,
    ) =>
      `${threshold ? "Update" : "Mistake"} t = ${t}: ${had} ≤ ${threshold ? `δ = ${say(threshold)}` : "0"}, so ${move}`,
    angle: (/** @type {number} */ before, /** @type {number} */ after) => ` Angle to w*: ${degrees(before)} → ${degrees(after)}.`,
    pocket: (/** @type {number} */ now, /** @type {number} */ kept, /** @type {boolean} */ replaced) => replaced ?
      ` The new w misclassifies ${now}, fewer than the ${kept} of the pocket, and replaces it.` :
      ` The new w misclassifies ${now}, not fewer than the ${kept} of the pocket, so the pocket stays.`,
    stopped: (/** @type {string} */ stop, /** @type {number | null} */ period) => {
      const after = period ? `repeats every ${rounds(period)} and never ends` : "has not ended";
      return ` The run was stopped here by ${STOPS[stop] ?? stop}; it ${after}.`;
    },
    allRight: " w classifies every row correctly: the run ends.",
    ended: (/** @type {boolean} */ acted, /** @type {number} */ threshold) =>
      `${acted ? " After it comes" : " This completes"} a full round without ` +
      `${threshold ? "an update" : "a mistake"}: the run ends.`,
  },

  /** The answers of the page itself. They are those of the library, word by word. */
  answer: {
    empty: "There are no points yet. Click in the plane to add one, or choose data.",
    oneLabel: "All points have one label. Double-click a point, or press F, to flip its label.",
    /** @param
     * {{gamma: number, radius: number, limit: string, made: number, converged: boolean, mistakes: number | null}} told */
    separable: ({ gamma, radius, limit, made, converged, mistakes }) => {
      const run = converged ? `This run made ${made}` : `This run was stopped after ${made} updates`;
      const among = mistakes === null ? "" : `, ${mistakes} of them mistakes`;
      return `Separable, proved: γ ≥ ${sayDown(gamma)}, R ≤ ${sayUp(radius)}${limit} ${run}${among}.`;
    },
    limit: (
      /** @type {string} */ formula,
      /** @type {string} */ bound,
      /** @type {boolean} */ updates,
      /** @type {boolean} */ one,
    ) => `: at most ⌊${formula}⌋ = ${bound} ${events(updates, one ? 1 : 2)}.`,
    noLimit: ". R²/γ² does not bound this rule: it also updates on correctly classified rows.",
    inseparable: (/** @type {boolean} */ bias, /** @type {number[]} */ rows) =>
      `Inseparable, proved: no ${aLine(bias)} separates ${plural("row", rows.length)} ${numbers(rows)}.`,
    quasi: (/** @type {boolean} */ bias, /** @type {number} */ apart, /** @type {number} */ others) =>
      `Quasi-separable, proved: a ${aLine(bias)} with no row on its wrong side separates at most ` +
      `${counted(apart, "row")} and contains the other ${others}.`,
    fewest: (/** @type {boolean} */ bias, /** @type {number} */ bound, /** @type {number} */ errors) =>
      `Every ${aLine(bias)} misclassifies at least ${counted(bound, "row")}, proved. The dashed violet line misclassifies ` +
      `${errors}${errors === bound ? `: no ${aLine(bias)} is better.` : ", the fewest found."}`,
    shaded: (/** @type {string} */ rule, /** @type {number} */ fit, /** @type {number} */ of) =>
      `Shaded: ${rule}. Correct: ${fit} of ${counted(of, "row")}.`,
    network:
      "a network of three neurons: the first fires if x₁ + x₂ ≥ 0.5, the second if x₁ + x₂ ≥ 1.5, and the third if " +
      "only the first fires",
    vote: "the vote of all w; each w has one vote for every row visited with it",
    kernel: (
      /** @type {string} */ formula,
      /** @type {number} */ mistakes,
      /** @type {boolean} */ clean,
      /** @type {number} */ epochs,
    ) =>
      `the kernel perceptron, K(x, z) = ${formula}; mistakes: ${mistakes}, ` +
      `${clean ? "then a clean round" : `no clean round in ${epochs}`}`,
    label: "label",
  },

  /** Questions that the page does not answer. */
  wrong: {
    sidesOfLine: "The answer to the run shows the sides of the line.",
    noPoints: "There are no points to learn from.",
    noVote: "The pocket algorithm has no vote. Choose another rule.",
    noMaximum: "The kernel perceptron has no maximal order. Choose another order.",
    noFile:
      "This page writes pictures and tables (CSV). novikoff lab, on your machine, also writes this file.",
    field: (/** @type {string} */ name) => `The question has the unknown field '${name}'.`,
    choice: (
      /** @type {string} */ name,
      /** @type {readonly unknown[]} */ allowed,
      /** @type {string} */ given,
    ) => `The field '${name}' must be ${allowed.join(" or ")}, not ${given}.`,
    points: "The field 'points' must be a list.",
    tooMany: (/** @type {number} */ most) =>
      `The lab draws at most ${most} points. novikoff fit reads files of any size.`,
    seed: "The seed must be a whole number.",
    largeSeed: (/** @type {number} */ most) => `The seed must be at most ${most}.`,
    names: (/** @type {number} */ most) => `The names must be two texts of at most ${most} characters.`,
    mu: "The step size μ",
    delta: "The threshold δ",
    start: "w₀",
    mine: "Your w*",
    point: (/** @type {number} */ row) => `Point ${row + 1}`,
    box: "The box",
    positive: (/** @type {string} */ what) => `${what} must be positive.`,
    notNegative: (/** @type {string} */ what) => `${what} must not be negative.`,
    label: (/** @type {number} */ row, /** @type {number} */ label) =>
      `Point ${row + 1} has the label ${label}, not +1 or −1.`,
    numbers: (
      /** @type {string} */ what,
      /** @type {number} */ count,
      /** @type {string | undefined} */ given,
    ) =>
      `${what} must be ${count === 1 ? "a number" : `${count} numbers`} between −10⁶ and 10⁶, not ${given}.`,
    tiny: (/** @type {string} */ what, /** @type {string} */ given) =>
      `${what} has a number closer to 0 than 10⁻⁶⁰, too small for products in float64: ${given}. Use 0, or other units.`,
  },
};
