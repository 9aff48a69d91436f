import {
  describeEmpty,
  emptyReason,
  tokenLimit,
  type EmptyReason,
  type EndedAnswer,
} from '../../src/core/answers/ending.js';
import type { Call } from '../../src/core/graphs/run/run.js';
import type { PolicySpec } from '../../src/core/jobs/policy.js';

/** A step whose model gave no answer; `words`: why, as a predicate of the model. */
export interface Silent {
  step: string;
  reason: EmptyReason;
  words: string;
}

/** The calls of a graph's run whose last answer is empty. */
export class Silence {
  private readonly byCall = new Map<string, Silent>();

  /** Notes an answer to a call; a later answer to the same call replaces it. */
  note({ key, step }: Pick<Call, 'key' | 'step'>, answer: EndedAnswer, { params }: PolicySpec): void {
    const reason = emptyReason(answer);
    if (reason === null) this.byCall.delete(key);
    else this.byCall.set(key, { step, reason, words: describeEmpty(reason, answer, tokenLimit(params)) });
  }

  /** Null: no call of the step is silent. */
  of(step: string | null): Silent | null {
    return [...this.byCall.values()].find((silent) => silent.step === step) ?? null;
  }

  /** Null: none is silent. */
  ofAny(): Silent | null {
    return [...this.byCall.values()][0] ?? null;
  }
}
