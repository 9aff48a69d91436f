import type { Event } from './api.js';
import { creation, type Creation } from './handle.js';
import { Job } from './jobs.js';
import type { Operations } from './operations.js';
import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, EventOptions, Item, Query } from './types.js';

/** A graph job. */
export class GraphHandle extends Job<'GraphJob'> {
  protected readonly kind = 'GraphJob';
  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('streamGraphJobEvents', { ...options, path: this.path });
  }

  /** Starts a job that was created with `auto_start: false`. */
  start(options?: CallOptions): Promise<Answer<'startGraphJob'>> {
    return this.client.request('startGraphJob', { ...options, path: this.path });
  }

  /** The best graph so far as text. */
  async text(options?: CallOptions): Promise<string> {
    return (await this.client.download('getGraphText', { ...options, path: this.path })).text();
  }

  /** The winner as a ZIP, streamed. */
  download(options?: CallOptions): Promise<Response> {
    return this.client.download('downloadGraph', { ...options, path: this.path });
  }

  /** The rows that it has evaluated, with the answers of the baseline and of a candidate. */
  rows(query?: Query<'listGraphJobRows'>, options?: CallOptions): AsyncGenerator<Item<'listGraphJobRows'>, void> {
    return this.client.list('listGraphJobRows', { ...options, path: this.path, query });
  }

  candidates(
    query?: Query<'listGraphJobCandidates'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listGraphJobCandidates'>, void> {
    return this.client.list('listGraphJobCandidates', { ...options, path: this.path, query });
  }

  /** A candidate with its graph, its origin and why it was accepted or rejected. */
  candidate(candidateId: string, options?: CallOptions): Promise<Answer<'getGraphJobCandidate'>> {
    const path = { ...this.path, candidate_id: candidateId };
    return this.client.request('getGraphJobCandidate', { ...options, path });
  }

  /** The edits that make a candidate's prompts of another's, with evidence. */
  changes(
    candidateId: string,
    query: Query<'getGraphJobChanges'> = {},
    options?: CallOptions,
  ): Promise<Answer<'getGraphJobChanges'>> {
    const path = { ...this.path, candidate_id: candidateId };
    return this.client.request('getGraphJobChanges', { ...options, path, query });
  }

  /** A graph job with the same request but for the fields of `body`. */
  clone(body?: Body<'cloneGraphJob'>, options?: CallOptions): Creation<GraphHandle> {
    return creation(this.call('cloneGraphJob', { ...options, body }), open(this.client));
  }

  /** A graph job that begins with a candidate of this one. */
  branch(candidateId: string, body?: Body<'cloneGraphJob'>, options?: CallOptions): Creation<GraphHandle> {
    const query = { candidate_id: candidateId };
    return creation(this.call('cloneGraphJob', { ...options, query, body }), open(this.client));
  }
}

/** `client.graphs` */
export class Graphs extends Resource {
  create(body: Body<'createGraphJob'>, options?: CallOptions): Creation<GraphHandle> {
    return creation(this.client.request('createGraphJob', { ...options, body }), open(this.client));
  }

  /** What the first graph gives for a few tasks, within a minute; lists leave the job out. */
  tryRows(body: Body<'tryPrompt'>, options?: CallOptions): Promise<Answer<'tryPrompt'>> {
    return this.client.request('tryPrompt', { ...options, body });
  }

  /** A graph job by its id, without asking the service. */
  handle(id: string): GraphHandle {
    return new GraphHandle(this.client, id);
  }

  list(query?: Query<'listGraphJobs'>, options?: CallOptions): AsyncGenerator<Item<'listGraphJobs'>, void> {
    return this.client.list('listGraphJobs', { ...options, query });
  }
}

const open =
  (client: Operations) =>
  (created: Answer<'createGraphJob'>): GraphHandle =>
    new GraphHandle(client, created.job_id, created);
