import { Ratchet, RatchetError } from '../../client/index.js';

/** Checks of models, and creates that call them, take minutes. */
const timeoutMs = 300_000;
/** A service that is gone is told soon. */
const maxRetries = 2;

/** The client of a command, with the jobs that it works on. */
export class CommandClient extends Ratchet {
  readonly url: string;
  /** Ids of the jobs that the command has started, and of those that it only follows. */
  readonly started: string[] = [];
  readonly watched: string[] = [];
  /** Whether the command has its result and only stays up: Ctrl-C ends it as a success. */
  isResting = false;

  constructor(url: string, apiKey: string) {
    super({ url, apiKey, timeoutMs, maxRetries });
    this.url = url;
  }
}

/** Whether an error says that the service did not answer. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof RatchetError && ['unreachable', 'timeout'].includes(error.code);
}
