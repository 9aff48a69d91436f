/** Votes: which of several values is taken. */
import { quoteText } from '../../prompts/quote.js';
import { isObject, keyOf, textOf, type Json } from '../values.js';

/** Values that are the same (`keyOf`): the first of them, and how many they are. */
export interface VoteGroup {
  value: Json;
  votes: number;
}

/** The groups of several values, in the order of their first ones. */
export function groupValues(values: readonly Json[]): VoteGroup[] {
  const groups = new Map<string, VoteGroup>();
  for (const value of values) {
    const key = keyOf(value);
    const group = groups.get(key);
    if (group) group.votes += 1;
    else groups.set(key, { value, votes: 1 });
  }
  return [...groups.values()];
}

/** The first value of the largest group, of equal ones the earliest; undefined for no values. */
export function majorityOf(values: readonly Json[]): Json | undefined {
  let winner: VoteGroup | undefined;
  for (const group of groupValues(values)) if (winner === undefined || group.votes > winner.votes) winner = group;
  return winner?.value;
}

/** Candidates as a judge is shown them, numbered from 1 on; no line of one can pose as another's number. */
export function numberedCandidates(candidates: readonly Json[]): string {
  return candidates.map((value, at) => `Candidate ${at + 1}:\n${quoteText(candidateText(value))}`).join('\n\n');
}

/** An object whose only field is a text is shown as this text. */
function candidateText(value: Json): string {
  if (!isObject(value)) return textOf(value);
  const [only, ...others] = Object.values(value);
  return typeof only === 'string' && others.length === 0 ? only : textOf(value);
}

export type Verdict = { ok: true; index: number } | { ok: false; problem: string };

/**
 * The place, from 0 on, of the candidate that a judge's answer names: the only number in it, or the only one in its last line
 * that is not blank. The same number may stand there several times.
 */
export function parseVerdict(answer: string, count: number): Verdict {
  const range = `1 to ${count}`;
  const lines = answer.split(/\r\n|[\n\r]/).filter((line) => line.trim() !== '');
  const whole = numbersIn(answer);
  const named = whole.size === 1 ? whole : numbersIn(lines.at(-1) ?? '');
  if (whole.size === 0) return { ok: false, problem: `names no candidate: a number from ${range} is wanted` };
  if (named.size !== 1)
    return {
      ok: false,
      problem: `does not name one candidate: exactly one number from ${range} is wanted in its last line`,
    };
  const [number] = named as Set<number>;
  if (number! < 1 || number! > count) return { ok: false, problem: `names ${number}, which is not one of ${range}` };
  return { ok: true, index: number! - 1 };
}

function numbersIn(text: string): Set<number> {
  return new Set((text.match(/\d+/g) ?? []).map(Number));
}
