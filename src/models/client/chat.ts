/** The chats that the service asks for itself. */
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import type { Question } from '../../core/question.js';
import type { UnsentCause } from '../../clients/net/unsent.js';
import type { CallCost } from './cost.js';
import type { Lesson } from './quirks/lessons.js';
import type { Refusal } from './refusals.js';

/** Reserves the cost of each try of a call. */
export interface CostReservation {
  /** Called before a try: the request to send, or the reason not to. Rejects to end the call. */
  open(body: Record<string, unknown>): Promise<{ body: Record<string, unknown> } | { message: string }>;
  /** Called after a try with its cost, if known. */
  close(cost: CallCost): Promise<void>;
}

export type Asker = 'policy' | 'proposer' | 'step' | 'judge' | 'preflight';

/** A chat completion requested by the service itself. */
export interface ChatRequest {
  policy: PolicySpec;
  /** `proposer` if absent. */
  asker?: Asker;
  messages: Message[];
  /** What the messages ask, as data, for a provider that reads no prose. */
  question?: Question;
  /** Parameters that the service adds to those of the policy. */
  added?: readonly Lesson[];
  signal: AbortSignal;
  meter?: CostReservation | null;
  /** Time of `performance.now()` after which no try and no wait begins. */
  deadline?: number;
  /** First wait between tries, in milliseconds; doubles each time. */
  retryBaseMs?: number;
  /** Time limit of one try. */
  tryTimeoutMs?: number;
  /** Called on 429, 498, 503 and 529: the provider asks for fewer calls. */
  onPushback?(because: string): void;
  /** Called when a wait begins (for budget, or `Retry-After`); its result is called at the end. */
  onWait?(): () => void;
  /** Streams the answer: called with each piece of text. No retry after the first piece. */
  onText?(piece: string): void;
}

/**
 * `responseModel`: the model that answered; null: unknown. `infrastructure`: not the request's
 * fault.
 */
export type ChatResult =
  | ({
      ok: true;
      text: string;
      /** Beside the text; null: none. */
      thoughts: string | null;
      refusal: string | null;
      finishReason: string | null;
      responseModel: string | null;
      latencyMs: number;
      /** Parameters of the policy that the model refuses and did not get. */
      left: string[];
    } & CallCost)
  | {
      ok: false;
      code: string;
      message: string;
      infrastructure: boolean;
      /** Where the call was not sent: when another one may be. */
      retryAfterS?: number;
      /** No other try helps until somebody changes the set-up. */
      isLasting?: boolean;
      /** What failed before the first byte. */
      unsent?: UnsentCause;
      /** The provider's refusal. */
      refused?: Refusal & { status: number; retryAfter: string | null; text: string };
    };
