import { createHash } from 'node:crypto';
import { isProposal } from '../support/worlds/graph.js';

interface Message {
  role: string;
  content: string;
}

/** What a rollout's container asks for the `ask`-th time, in the form that a graph takes, too. */
export function questionOfRollout(job: string, seed: number, rolloutId: string, ask: number): string {
  return JSON.stringify({ question: `job=${job} seed=${seed} rollout=${rolloutId} ask=${ask}` });
}

/** What a client asks in its `n`-th request. */
export function questionOfClient(n: number): string {
  return JSON.stringify({ question: `What is item ${n}? client=${n}` });
}

const mark = /\bjob=\S+ seed=\d+ rollout=\w+ ask=\d+|\bclient=\d+/;

/**
 * What calls for the same answer have in common: who asks for a container or a client, and, where a
 * graph answers that, a hash of what its step is shown; a hash of all messages for the service's
 * own calls.
 */
export function keyOf(messages: readonly Message[]): string {
  const hash = () => createHash('sha256').update(JSON.stringify(messages)).digest('hex');
  const asker = isProposal(messages) ? null : mark.exec(messages.map(({ content }) => content).join('\n'));
  if (!asker) return hash();
  return messages.at(-1)!.content.startsWith('{"question":') ? asker[0] : `${asker[0]} of ${hash()}`;
}

/** Of a key what was asked for, whatever step of a graph was asked for it. */
export const askOf = (key: string): string => key.replace(/ of .*$/, '');

/** Of a key the rollout whose container asks; null: somebody else does. */
export const rolloutOf = (key: string): string | null => /^job=.* rollout=(\w+) /.exec(key)?.[1] ?? null;

export const isOfClient = (key: string): boolean => key.startsWith('client=');
