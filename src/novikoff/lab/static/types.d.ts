/** The JSON of lab.schema.json, as the page sees it. */
export type Vec3 = [number, number, number];
export type Point = [number, number, number];

export interface Question {
  points: Point[];
  order: string;
  seed: number;
  bias: boolean;
  rule: string;
  step: number;
  threshold: number;
  start: Vec3 | null;
  mine: Vec3 | null;
}

export interface Run {
  index: number[];
  step: number[];
  margin: number[];
  tau: number[];
  weights: Vec3[];
  averages: Vec3[];
  squared_norm: number[];
  inner?: number[];
  cosine?: number[];
  ceiling?: (number | null)[];
  errors: number[];
  bounds: { inner: number[]; squared_norm: number[]; cosine: number[] };
  visits: number[] | null;
  visit_margin?: number[];
  visited: number;
  converged: boolean;
  stop: string;
}

export interface Reference {
  w: Vec3;
  margin: number;
  bound: number | null;
  mine: boolean;
  wrong: number[];
}

export interface Full {
  kind: "separable" | "quasi-separable" | "inseparable" | "undecided";
  sentence: string;
  margin: [number, number | null];
  radius: number;
  w_star: Vec3 | null;
  bound: number | null;
  support: number[];
  separated: number[];
  weights: [number, number][];
  meeting?: [number, number];
  weak?: Vec3;
  reference: Reference | null;
  run: Run;
}

export type Answer = Full | { kind: "empty"; sentence: string };

export interface Pocket {
  w: Vec3;
  errors: number;
  bound: number;
  optimal: boolean;
  wrong: number[];
  history: [number, number][];
  sentence: string;
}

export interface Voted {
  size: number;
  shares: number[];
}

export interface Preset {
  title: string;
  lesson: string;
  question: Partial<Question> & { points: Point[] };
}

export interface Recorded {
  question: Question;
  answer: Answer;
  pocket: Pocket | null;
  view: { moment?: number };
}

/** Where answers come from: the server, a kernel behind a notebook, or a record. */
export interface Host {
  ask(what: "run" | "pocket" | "voted" | "export", body: object): Promise<any>;
  ready(): Promise<{ version: string; stages: { name: string; done: boolean }[] }>;
  record(name: string): Promise<{ answer: Answer; pocket: Pocket | null }>;
  live: boolean;
}

export interface Moment {
  t: number;
  row: number | null;
  acted: boolean;
  margin: number;
}

export interface Show {
  average: boolean;
  voted: boolean;
}

export type PredictState = null | { asked: "count" | "row"; said: string };

/** What the panels may read and ask of the page. */
export interface Lab {
  question: Question;
  answer: Answer | null;
  full: Full | null;
  pocket: Pocket | null;
  voted: Voted | null;
  moment: number;
  selected: number;
  newLabel: number;
  show: Show;
  live: boolean;
  predict: PredictState;
  change(edit: (question: Question) => void, how?: { remember?: boolean; rest?: boolean }): void;
  remember(): void;
  select(row: number): void;
  goTo(moment: number): void;
  guessRow(row: number): boolean;
}

/** A chart of the proof: a formula, a sentence, curves over t and a readout. */
export interface Card {
  formula: string;
  caption: string;
  values: (number | null)[];
  bound: (number | null)[];
  /** The side of the bound on which no value may be. */
  forbidden: "above" | "below";
  more: { name: string; points: [number, number][] }[];
  read(t: number): [string, boolean | null];
}
