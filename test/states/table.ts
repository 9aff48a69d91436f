import { transition, type Status } from '../../src/core/jobs/status.js';

// test/core/jobs/status.test.ts compares the table of src/core with the contract, cell by cell.

/** `stop` is a reward with `stop: true`. */
export type Verb = 'pause' | 'resume' | 'cancel' | 'stop';

/** A job's status, with its number of pauses and resumes so far. */
export interface ExpectedState {
  status: Status;
  paused: number;
  resumed: number;
}

/** The part of an HTTP answer that the table decides: 200 or 409, and the status. */
export interface Answer {
  code: 200 | 409;
  status: Status;
}

/** A command in flight. `native`: Temporal's cancel, which may arrive after later signals. */
export interface Call {
  verb: Verb;
  native?: boolean;
}

/** One possible order of calls: the answer to each, and the final state of the job. */
export interface Course {
  answers: Answer[];
  state: ExpectedState;
}

/** The answer to a command in a state, and the next state. */
export function step(from: ExpectedState, verb: Verb): { answer: Answer; state: ExpectedState } {
  const { ok, status } = transition(from.status, verb === 'stop' ? 'reward_stop' : verb);
  const changed = status !== from.status;
  return {
    answer: { code: ok ? 200 : 409, status },
    state: {
      status,
      paused: from.paused + (changed && status === 'paused' ? 1 : 0),
      resumed: from.resumed + (changed && status === 'running' ? 1 : 0),
    },
  };
}

/**
 * All possible orders of calls: any, or, with `inOrder`, the given one. `done`: all of the job's
 * work is done, so that it may complete whenever it runs, and has completed at the end if it runs
 * then.
 */
export function courses(
  from: ExpectedState,
  calls: readonly Call[],
  { inOrder, done }: Record<'inOrder' | 'done', boolean>,
) {
  const found: Course[] = [];
  const go = (from: ExpectedState, answers: (Answer | undefined)[], left: number[]): void => {
    const completes = done && from.status === 'running';
    if (completes) go({ ...from, status: 'completed' }, answers, left);
    if (left.length === 0 && !completes) found.push({ answers: answers as Answer[], state: from });
    for (const i of left) {
      const after = step(from, calls[i]!.verb);
      go(
        after.state,
        answers.with(i, after.answer),
        left.filter((other) => other !== i),
      );
      if (inOrder && !calls[i]!.native) break;
    }
  };
  go(from, new Array<Answer | undefined>(calls.length).fill(undefined), [...calls.keys()]);
  return found;
}
