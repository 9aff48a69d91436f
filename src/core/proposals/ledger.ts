/** A short ledger of what was tried on a text: what each child adds, and what came of it. */
import { cutAfter } from '../../util/text.js';
import { quoteText } from '../prompts/quote.js';
import type { TriedCandidate } from './tried-candidate.js';

/** A child's text with its result. */
export type TriedText = Omit<TriedCandidate, 'candidate'> & { text: string };

/** About a thousand tokens, and a part of that for each entry. */
const maxChars = { ledger: 4_000, entry: 600 } as const;

/** The entries in the order given, as many as fit; empty: none. */
export function showLedger(instruction: string, tried: readonly TriedText[]): string[] {
  const entries: string[] = [];
  let left: number = maxChars.ledger;
  for (const { text, ...result } of tried) {
    const entry = `${describe(result)}\n${quoteText(cutAfter(changeOf(instruction, text), maxChars.entry))}`;
    if (entry.length > left) break;
    left -= entry.length;
    entries.push(entry);
  }
  if (entries.length === 0) return [];
  return [
    'These new instructions were tried already, the newest first. Do not write one of them again: keep what gained, avoid what lost.',
    ...entries,
  ];
}

function describe({ status, gain, seeds }: Omit<TriedText, 'text'>): string {
  if (gain === null) return '- No result yet:';
  const change = `${gain > 0 ? '+' : ''}${gain.toFixed(2)} mean reward on ${seeds} ${seeds === 1 ? 'input' : 'inputs'}`;
  return status === 'rejected' ? `- Refused (${change}):` : `- Accepted (${change}):`;
}

/** The lines that the text adds to its parent; all of it without such lines. */
function changeOf(parent: string, text: string): string {
  const known = new Set(parent.split('\n').map((line) => line.trim()));
  const added = text.split('\n').filter((line) => line.trim() !== '' && !known.has(line.trim()));
  return added.length > 0 ? added.join('\n') : text;
}

/** Whether two texts are the same but for white space. */
export function sameText(left: string, right: string): boolean {
  return normalized(left) === normalized(right);
}

function normalized(text: string): string {
  return text.trim().replaceAll(/\s+/gu, ' ');
}
