import { quoteText } from '../../prompts/quote.js';
import { displayText, equivalenceKey, type Json } from '../values.js';

/** The first of equivalent values, and their number. */
export interface VoteGroup {
  value: Json;
  votes: number;
}

/** Groups equivalent values, in the order of their first values. */
export function groupValues(values: readonly Json[]): VoteGroup[] {
  const groups = new Map<string, VoteGroup>();
  for (const value of values) {
    const key = equivalenceKey(value);
    const group = groups.get(key);
    if (group) group.votes += 1;
    else groups.set(key, { value, votes: 1 });
  }
  return [...groups.values()];
}

/** The first value of the largest group, the earliest on a tie; undefined without values. */
export function majorityValue(values: readonly Json[]): Json | undefined {
  let winner: VoteGroup | undefined;
  for (const group of groupValues(values)) if (winner === undefined || group.votes > winner.votes) winner = group;
  return winner?.value;
}

/** Numbered from 1 for a judge; quoting keeps a candidate's text from posing as another. */
export function numberedCandidates(candidates: readonly Json[]): string {
  return candidates.map((value, at) => `Candidate ${at + 1}:\n${quoteText(displayText(value))}`).join('\n\n');
}

export type VoteResult = { ok: true; index: number } | { ok: false; problem: string };

/** The candidate that a judge names: by the only number in the answer, or in its last line. */
export function parseVote(answer: string, count: number): VoteResult {
  const range = `1 to ${count}`;
  const lines = answer.split(/\r\n|[\n\r]/).filter((line) => line.trim() !== '');
  const whole = wholeNumbers(answer);
  const named = whole.size === 1 ? whole : wholeNumbers(lines.at(-1) ?? '');
  if (whole.size === 0) return { ok: false, problem: `names no candidate; expected a number from ${range}` };
  if (named.size !== 1)
    return {
      ok: false,
      problem: `does not name exactly one candidate; expected one number from ${range} in the last line`,
    };
  const [number] = named as Set<number>;
  if (number! < 1 || number! > count) return { ok: false, problem: `names ${number}, which is not one of ${range}` };
  return { ok: true, index: number! - 1 };
}

function wholeNumbers(text: string): Set<number> {
  return new Set((text.match(/\d+/g) ?? []).map(Number));
}
