import { appendFileSync, existsSync, readFileSync } from 'node:fs';

/** A line of a container's ledger; `at` in epoch ms, `attempt` counts calls of the rollout. */
export type ContainerLine =
  | { event: 'in'; at: number; rolloutId: string; seed: number; attempt: number; concurrency: number }
  | { event: 'out'; at: number; rolloutId: string; seed: number; attempt: number; status: number; finished: boolean }
  /** The planned behaviour; `fault` is a name of faults/container.ts, or `good`. */
  | { event: 'plan'; at: number; rolloutId: string; attempt: number; fault: string }
  | { event: 'answer'; at: number; rolloutId: string; attempt: number; reward: number }
  /** A model call as the container saw it end; `text` null: incomplete answer. */
  | { event: 'asked'; at: number; rolloutId: string; attempt: number; status: number; text: string | null };

/** A line of a model's ledger. Calls for the same answer have the same `key`. */
export type ModelLine =
  | { event: 'in'; at: number; job: string; key: string; fault: string }
  | { event: 'out'; at: number; job: string; key: string; fault: string; finished: boolean };

/** A file of JSON lines that the service cannot reach. */
export class Ledger<Line> {
  readonly file: string;

  constructor(file: string) {
    this.file = file;
  }

  note(line: Line): void {
    appendFileSync(this.file, `${JSON.stringify(line)}\n`);
  }

  lines(): Line[] {
    if (!existsSync(this.file)) return [];
    return readFileSync(this.file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Line);
  }
}
