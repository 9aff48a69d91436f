import type { Operations } from './operations.js';

/** The methods of one resource of a client. */
export abstract class Resource {
  protected readonly client: Operations;

  constructor(client: Operations) {
    this.client = client;
  }
}
