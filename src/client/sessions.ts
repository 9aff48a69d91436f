import type { Event } from './api.js';
import { EvaluationHandle } from './evaluations.js';
import { creation, type Creation } from './handle.js';
import { Job } from './jobs.js';
import type { Operations } from './operations.js';
import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, EventOptions, Item, Query } from './types.js';

/** A session. */
export class SessionHandle extends Job<'Session'> {
  protected readonly kind = 'Session';
  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('listSessionEvents', { ...options, path: this.path });
  }

  /** The best prompt so far and the history of the search. */
  results(query?: Query<'getSessionResults'>, options?: CallOptions): Promise<Answer<'getSessionResults'>> {
    return this.client.request('getSessionResults', { ...options, path: this.path, query });
  }

  /** URLs of the proxy and the served prompt. */
  prompt(query?: Query<'getSessionPrompt'>, options?: CallOptions): Promise<Answer<'getSessionPrompt'>> {
    return this.client.request('getSessionPrompt', { ...options, path: this.path, query });
  }

  /** Opens the ended session again with larger limits. */
  extend(body: Body<'extendSession'>, options?: CallOptions): Promise<Answer<'extendSession'>> {
    return this.client.request('extendSession', { ...options, path: this.path, body });
  }

  /** A hint for the proposer. */
  hint(body: Body<'hintSession'>, options?: CallOptions): Promise<Answer<'hintSession'>> {
    return this.client.request('hintSession', { ...options, path: this.path, body });
  }

  /** A candidate of your own. */
  suggest(body: Body<'suggestSessionCandidate'>, options?: CallOptions): Promise<Answer<'suggestSessionCandidate'>> {
    return this.client.request('suggestSessionCandidate', { ...options, path: this.path, body });
  }

  /** The rows that it has evaluated, with the answers of the baseline and of a candidate. */
  rows(query?: Query<'listSessionRows'>, options?: CallOptions): AsyncGenerator<Item<'listSessionRows'>, void> {
    return this.client.list('listSessionRows', { ...options, path: this.path, query });
  }

  candidates(
    query?: Query<'listSessionCandidates'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listSessionCandidates'>, void> {
    return this.client.list('listSessionCandidates', { ...options, path: this.path, query });
  }

  /** A candidate with its origin and why it was accepted or rejected. */
  candidate(candidateId: string, options?: CallOptions): Promise<Answer<'getSessionCandidate'>> {
    const path = { ...this.path, candidate_id: candidateId };
    return this.client.request('getSessionCandidate', { ...options, path });
  }

  /** The edits that make a candidate's prompt of another's, with evidence. */
  changes(
    candidateId: string,
    query: Query<'getSessionChanges'> = {},
    options?: CallOptions,
  ): Promise<Answer<'getSessionChanges'>> {
    const path = { ...this.path, candidate_id: candidateId };
    return this.client.request('getSessionChanges', { ...options, path, query });
  }

  /** An evaluation of a candidate's prompt without one of its edits. */
  ablate(candidateId: string, body: Body<'createSessionAblation'>, options?: CallOptions): Creation<EvaluationHandle> {
    const path = { ...this.path, candidate_id: candidateId };
    const created = this.client.request('createSessionAblation', { ...options, path, body });
    return creation(created, ({ job_id: id }) => new EvaluationHandle(this.client, id));
  }

  /** A session with the same request but for the fields of `body`. */
  clone(body?: Body<'cloneSession'>, options?: CallOptions): Creation<SessionHandle> {
    return creation(this.call('cloneSession', { ...options, body }), open(this.client));
  }

  /** A session that begins with a candidate of this one. */
  branch(candidateId: string, body?: Body<'cloneSession'>, options?: CallOptions): Creation<SessionHandle> {
    const query = { candidate_id: candidateId };
    return creation(this.call('cloneSession', { ...options, query, body }), open(this.client));
  }
}

/** `client.sessions` */
export class Sessions extends Resource {
  create(body: Body<'createSession'>, options?: CallOptions): Creation<SessionHandle> {
    return creation(this.client.request('createSession', { ...options, body }), open(this.client));
  }

  /** A session by its id, without asking the service. */
  handle(id: string): SessionHandle {
    return new SessionHandle(this.client, id);
  }

  list(query?: Query<'listSessions'>, options?: CallOptions): AsyncGenerator<Item<'listSessions'>, void> {
    return this.client.list('listSessions', { ...options, query });
  }
}

const open =
  (client: Operations) =>
  (created: Answer<'createSession'>): SessionHandle =>
    new SessionHandle(client, created.session_id, created);
