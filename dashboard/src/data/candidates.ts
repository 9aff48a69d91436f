/** All candidates of a search. */
import { all } from '../../../src/client/index.js';
import { client } from './client.js';

const query = { limit: 200 };

export const sessionCandidates = (id: string, signal: AbortSignal) =>
  all(client.value.sessions.handle(id).candidates(query, { signal }));

export const graphCandidates = (id: string, signal: AbortSignal) =>
  all(client.value.graphs.handle(id).candidates(query, { signal }));
