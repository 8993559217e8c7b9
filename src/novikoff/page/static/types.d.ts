/** Types that every module knows: the JSON of lab.schema.json, and what the panels share. */
type Vec3 = [number, number, number];
type Point = [number, number, number];
/** Two coordinates, in units of the data or in pixels. */
type Spot = [number, number];

interface Question {
  points: Point[];
  order: string;
  seed: number;
  bias: boolean;
  rule: string;
  step_size: number;
  threshold: number;
  start: Vec3 | null;
  mine: Vec3 | null;
  names: [string, string];
  sides: string;
}

interface Run {
  index: number[];
  n_steps: number[];
  margin: number[];
  tau: number[];
  weights: Vec3[];
  averages: Vec3[];
  squared_norm: number[];
  inner?: number[];
  cosine?: number[];
  ceiling?: (number | null)[];
  errors: number[];
  mistakes: number[];
  pocket?: number[];
  bounds: { inner: number[]; squared_norm: number[]; cosine: number[] };
  visits: number[] | null;
  visit_margin?: number[];
  visited: number;
  converged: boolean;
  stop: string;
  period: number | null;
}

interface Reference {
  w: Vec3;
  margin: number;
  bound: number | null;
  bound_text: string | null;
  formula: string;
  mine: boolean;
  wrong: number[];
}

interface Full {
  kind: "separable" | "quasi-separable" | "inseparable" | "undecided";
  sentence: string;
  w_star: Vec3 | null;
  support: number[];
  separated: number[];
  weights: [number, number][];
  meeting?: [number, number];
  weak?: Vec3;
  reference: Reference | null;
  run: Run;
}

type Answer = Full | { kind: "empty"; sentence: string };

interface Pocket {
  w: Vec3;
  errors: number;
  bound: number;
  history: [number, number][];
  sentence: string;
}

/** The signs on a grid over a box (left, bottom, right, top): rows of + and -, the lowest row first. */
interface Sides {
  box: [number, number, number, number];
  rows: string[];
  sentence: string;
}

interface Preset {
  title: string;
  lesson: string;
  /** The moment at which the preset opens; without it, the end. */
  at?: number;
  /** An order or a rule whose run is compared. */
  beside?: string;
  question: Partial<Question> & { points: Point[] };
}

interface RecordedAnswer {
  answer: Answer;
  pocket: Pocket | null;
  sides?: Sides;
}

/** Where answers come from: the server, the kernel of a notebook, or the page itself. */
interface Host {
  /** Who answers, as the page says it, and a sentence about this. */
  name: string;
  about: string;
  /** The files that it can write; "embed": the page can be a part of another page. */
  forms: string[];
  ask(what: "run" | "pocket" | "sides" | "export", body: any): Promise<any>;
  ready(): Promise<{ name: string; done: boolean }[]>;
  /** The menu of presets, the tour, the challenges, or the answer to a preset; undefined if it is not recorded. */
  record(name: string): Promise<any>;
}

/** What a page begins with: a title and a question, and the moment to show. */
interface Begin {
  title?: string;
  question: Preset["question"];
  moment?: number;
}

interface Moment {
  t: number;
  row: number | null;
  acted: boolean;
  margin: number;
}

type PredictState = null | { asked: "count" | "row" | "done"; said: string; count?: string };

/** The state of the page and what can be done to it, as the panels and tools know them. */
interface Lab {
  host: Host;
  /** Whether the address in the browser is that of the page, as it is not in a notebook. */
  linked: boolean;
  /** The parts that an embedded page shows, none for all. */
  parts: string[];
  plane: import("./plane.js").Plane;
  tour: import("./tour.js").Tour;
  challenges: import("./challenges.js").Challenges;
  status: string;
  trouble: string;
  warning: string;
  chosen: string;
  settled: boolean;
  player: number;
  past: unknown[];
  opened: { middle: string; proof: string };
  shown: string;
  question: Question;
  answer: Answer | null;
  full: Full | null;
  pocket: Pocket | null;
  shading: Sides | null;
  moment: number;
  selected: number;
  newLabel: number;
  averaged: boolean;
  lesson: string;
  beside: { name: string; run: Run | null };
  predict: PredictState;
  begin(question: Question, record?: RecordedAnswer, moment?: number): void;
  compare(name: string): void;
  change(edit: (question: Question) => void, how?: { remember?: boolean; dragging?: boolean }): void;
  move(factor: number, dx: number, dy: number): void;
  remember(): void;
  undo(): void;
  clear(): void;
  pick(name: string): void;
  paste(text: string): Promise<void>;
  askTable(): void;
  askLater(): void;
  shade(sides: string): void;
  showAverage(on: boolean): void;
  complain(sentence: string): void;
  writeLink(): void;
  startTour(scene?: number): Promise<void>;
  show(name: string): void;
  select(row: number): void;
  goTo(moment: number): void;
  go(way: string): void;
  setSpeed(speed: number): void;
  togglePredict(): void;
  reveal(guess: string): void;
  finishPrediction(): void;
  guessRow(row: number): boolean;
  openFile(file: File): Promise<void>;
  drawAround(): void;
}

/** A chart of the proof: a formula, a caption, curves over t, and the numbers at the present t. */
interface Card {
  formula: string;
  caption: string;
  values: (number | null)[];
  bound: (number | null)[];
  /** The side of the bound on which no value can be. */
  forbidden: "above" | "below";
  more?: Record<string, Spot[]>;
  /** The text at update t, and whether the inequality holds; null for the plain inequality. */
  read?(t: number): [string, boolean | null] | null;
}
