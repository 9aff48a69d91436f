/** A vote's judge: answers the task itself and names the first most similar candidate. */
import { likeness } from './judgement.js';

const heading = /^Candidate (\d{1,3}):$/;

export interface ShownChoice {
  candidates: { number: number; text: string }[];
  /** The message without the candidates. */
  rest: string;
}

/** The numbered candidates of a message, or null. */
export function readChoice(message: string): ShownChoice | null {
  const candidates: ShownChoice['candidates'] = [];
  const rest: string[] = [];
  let current: ShownChoice['candidates'][number] | null = null;
  for (const line of message.split('\n')) {
    const [, number] = heading.exec(line) ?? [];
    if (number !== undefined) candidates.push((current = { number: Number(number), text: '' }));
    else if (current && line.startsWith('>')) current.text += `${line.slice(2)}\n`;
    else {
      if (line.trim() !== '') current = null;
      rest.push(line);
    }
  }
  return candidates.length > 1 ? { candidates, rest: rest.join('\n') } : null;
}

/** The number of the candidate most similar to the judge's own answer. */
export function choose({ candidates }: ShownChoice, own: string): string {
  let best = candidates[0]!;
  for (const candidate of candidates) if (likeness(candidate.text, own) > likeness(best.text, own)) best = candidate;
  return String(best.number);
}
