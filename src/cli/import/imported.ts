/** What an import found, in the words of this service. */
import type { Message } from '../../core/prompts/message.js';
import type { Parameters } from '../task/policy.js';
import type { Scorer } from '../task/row-scorer.js';

export interface SourceFile {
  /** As the user wrote it, or below the folder that the user named. */
  path: string;
  text: string;
}

/** A row and where it stands, such as `rows.jsonl:3`. */
export interface Row {
  value: Record<string, unknown>;
  place: string;
}

export interface ImportedPrompt {
  messages: readonly Message[];
  /** `provider/model`; null: none is named. */
  model: string | null;
  policy: Parameters;
  /** Its number at OpenAI; null: none is known. */
  version: string | null;
}

export interface Imported {
  /** In words, such as `the eval "Tickets" of OpenAI`. */
  what: string;
  /** What it is called; any text. */
  name: string;
  /** Empty: there are none. */
  rows: readonly Row[];
  input: string | null;
  expected: string | null;
  /** Null: none of its own. */
  scorer: Scorer | null;
  /** Oldest first; empty: there is none. */
  prompts: readonly ImportedPrompt[];
  /** The one of `prompts` that is in use. */
  served: ImportedPrompt | null;
}

/** Graders that score differently here, and parts that are left out, each with its reason. */
export class Report {
  readonly notes: string[] = [];
  readonly left: string[] = [];

  note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  leave(text: string): void {
    if (!this.left.includes(text)) this.left.push(text);
  }
}

/** A text in quotes, short enough for a line. */
export function named(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
}

/** The first faults of many, a line each. */
export function listed(faults: readonly string[]): string {
  const shown = 10;
  const more = faults.length > shown ? [`… and ${faults.length - shown} more`] : [];
  return [...faults.slice(0, shown), ...more].join('\n');
}
