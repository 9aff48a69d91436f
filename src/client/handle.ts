import type { Event } from './api.js';
import { RatchetError } from './errors.js';
import type { Operations } from './operations.js';
import type { CallOptions, EventOptions } from './types.js';

export interface WaitOptions extends CallOptions {
  /** Called with each event; the next one waits for its promise. */
  onEvent?: ((event: Event) => void | Promise<void>) | undefined;
}

/** What runs in the service under an id, and the answer to its create. */
export abstract class Handle<State, Created = unknown> {
  readonly id: string;
  /** The answer to the create; undefined where only the id is known. */
  readonly created: Created | undefined;
  protected readonly client: Operations;

  constructor(client: Operations, id: string, created?: Created) {
    this.client = client;
    this.id = id;
    this.created = created;
  }

  /** The state now. */
  abstract get(options?: CallOptions): Promise<State>;

  /** The events, up to the end; ends when the loop is left or the signal aborts. */
  abstract events(options?: EventOptions): AsyncGenerator<Event, void>;

  /** Waits for the end and returns the state, of which `status` says how it ended. */
  async wait({ onEvent, ...options }: WaitOptions = {}): Promise<State> {
    try {
      for await (const event of this.events(options)) await onEvent?.(event);
    } catch (error) {
      // The events of a job that ended long ago may have been deleted.
      if (!(error instanceof RatchetError && error.code === 'expired')) throw error;
    }
    return this.get(options);
  }
}

/** The promise of a handle, on which `wait` can be called at once. */
export type Creation<Made extends Handle<unknown>> = Promise<Made> & { wait: Made['wait'] };

/** The handle of what a request creates. */
export function creation<State, Created, Made extends Handle<State>>(
  answer: Promise<Created>,
  open: (created: Created) => Made,
): Creation<Made> {
  const made = answer.then(open);
  const wait = async (options?: WaitOptions) => (await made).wait(options);
  return Object.assign(made, { wait }) as Creation<Made>;
}
