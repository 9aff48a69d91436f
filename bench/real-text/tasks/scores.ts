import type { Score } from '../../../src/container/index.js';
import type { TextRow } from '../splits.js';

/** Reward 1 for the expected text alone, without regard to spaces around it. */
export function exact({ expected }: TextRow, answer: string): Score {
  return judged(expected, answer.trim());
}

/** The same of the text after the last `Answer:`, so that an answer may begin with its reasons. */
export function exactEnd({ expected }: TextRow, answer: string): Score {
  const [, end] = /.*answer:\**(.*)$/is.exec(answer) ?? [];
  return judged(expected, (end ?? answer).trim());
}

function judged(expected: string, answered: string): Score {
  const details = { expected, answered };
  if (answered === expected) return { reward: 1, feedback: 'Correct.', details };
  return { reward: 0, feedback: `Expected "${expected}", answered "${answered.slice(0, 200)}".`, details };
}
