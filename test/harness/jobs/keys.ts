import { createHash } from 'node:crypto';
import { kindOf } from '../../support/worlds/asked.js';

interface Message {
  role: string;
  content: string;
}

/** Messages of a rollout's `ask`-th model call, in a form that a graph accepts, too. */
export function questionOfRollout(job: string, seed: number, rolloutId: string, ask: number): string {
  return JSON.stringify({ question: `job=${job} seed=${seed} rollout=${rolloutId} ask=${ask}` });
}

/** Messages of a client's `n`-th request. */
export function questionOfClient(n: number): string {
  return JSON.stringify({ question: `What is item ${n}? client=${n}` });
}

const mark = /\bjob=\S+ seed=\d+ rollout=\w+ ask=\d+|\bclient=\d+/;

/**
 * Equal for calls of the same answer. Identifies the container or client, and for a graph the hash
 * of its step's messages; the service's own calls have a hash of all messages.
 */
export function keyOf(messages: readonly Message[]): string {
  const hash = () => createHash('sha256').update(JSON.stringify(messages)).digest('hex');
  const last = messages.at(-1)!.content;
  // Demonstrations before it quote other questions.
  const own = last.startsWith('{"question":') ? mark.exec(last) : null;
  if (own) return own[0];
  const all = messages.map(({ content }) => content).join('\n');
  const asker = ['text', 'edits', 'description'].includes(kindOf(messages) ?? '') ? null : mark.exec(all);
  return asker ? `${asker[0]} of ${hash()}` : hash();
}

/** The request part of a key, without the step of a graph. */
export const askOf = (key: string): string => key.replace(/ of .*$/, '');

/** The rollout in a container's key; null: another caller. */
export const rolloutOf = (key: string): string | null => /^job=.* rollout=(\w+) /.exec(key)?.[1] ?? null;

/** The right answer of a data set's rows with this rule. */
export const answerOfRow = (rule: number | string): string => `needs rule-${rule}.`;

export const isOfClient = (key: string): boolean => key.startsWith('client=');
