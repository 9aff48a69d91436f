import { Handle } from './handle.js';
import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, Item, JsonOperation, Query } from './types.js';

/** The kinds of job that share their commands, as their operations name them. */
export type Kind = 'Session' | 'Evaluation' | 'GraphJob';

/** A session, an evaluation or a graph job. */
export abstract class Job<K extends Kind> extends Handle<Answer<`get${K}`>, Answer<`create${K}`>> {
  protected abstract readonly kind: K;

  protected get path() {
    return { session_id: this.id, job_id: this.id };
  }

  /** Calls an operation on this job. */
  protected call<Id extends JsonOperation>(id: Id, args: object = {}): Promise<Answer<Id>> {
    return this.client.request(id, ...([{ ...args, path: { ...this.path } }] as never));
  }

  get(options?: CallOptions): Promise<Answer<`get${K}`>> {
    return this.call(`get${this.kind}`, options);
  }

  /** Starts no more rollouts; rollouts in flight finish. */
  pause(options?: CallOptions): Promise<Answer<`pause${K}`>> {
    return this.call(`pause${this.kind}`, options);
  }

  resume(options?: CallOptions): Promise<Answer<`resume${K}`>> {
    return this.call(`resume${this.kind}`, options);
  }

  cancel(options?: CallOptions): Promise<Answer<`cancel${K}`>> {
    return this.call(`cancel${this.kind}`, options);
  }

  /** Reports the reward of a rollout or of a call. */
  reward(body: Body<`report${K}Reward`>, options?: CallOptions): Promise<Answer<`report${K}Reward`>> {
    return this.call(`report${this.kind}Reward`, { ...options, body });
  }

  /** The request, to send again; of a search also that of a branch from a candidate. */
  request(query?: Query<`get${K}Request`>, options?: CallOptions): Promise<Answer<`get${K}Request`>> {
    return this.call(`get${this.kind}Request`, { ...options, query });
  }

  /** Counts of its rows by group, by label and by feedback. */
  rowsSummary(query?: Query<`get${K}RowsSummary`>, options?: CallOptions): Promise<Answer<`get${K}RowsSummary`>> {
    return this.call(`get${this.kind}RowsSummary`, { ...options, query });
  }

  /** A data set of the rows that pass a filter. */
  rowsDataset(
    body?: Body<`createDatasetOf${K}Rows`>,
    options?: CallOptions,
  ): Promise<Answer<`createDatasetOf${K}Rows`>> {
    return this.call(`createDatasetOf${this.kind}Rows`, { ...options, body: body ?? {} });
  }

  /** Changes labels, archives, or sets the state. */
  update(body: Body<`update${K}`>, options?: CallOptions): Promise<Answer<`update${K}`>> {
    return this.call(`update${this.kind}`, { ...options, body });
  }

  /** Deletes the job, which must have ended, with all its data. */
  delete(options?: CallOptions): Promise<Answer<`delete${K}`>> {
    return this.call(`delete${this.kind}`, options);
  }

  /** All traces as a ZIP, streamed. */
  traces(options?: CallOptions): Promise<Response> {
    return this.client.download(`download${this.kind}Traces`, ...([{ ...options, path: this.path }] as never));
  }

  /** What it found, as one HTML file. */
  async report(options?: CallOptions): Promise<string> {
    const args = [{ ...options, path: this.path }] as never;
    return (await this.client.download(`get${this.kind}Report`, ...args)).text();
  }

  trace(traceId: string, options?: CallOptions): Promise<Answer<`get${K}Trace`>> {
    return this.client.request(
      `get${this.kind}Trace`,
      ...([{ ...options, path: { ...this.path, trace_id: traceId } }] as never),
    );
  }
}

/** `client.runs`: sessions, evaluations and graph jobs. */
export class Runs extends Resource {
  /** Runs in an order, such as `-gain`, to the last page. */
  list(query?: Query<'listRuns'>, options?: CallOptions): AsyncGenerator<Item<'listRuns'>, void> {
    return this.client.list('listRuns', { ...options, query });
  }

  /** One page; the first has the totals, and the groups of `group_by`. */
  page(query: Query<'listRuns'> = {}, options?: CallOptions): Promise<Answer<'listRuns'>> {
    return this.client.request('listRuns', { ...options, query });
  }

  /** One command for many runs; what each answered, or with `dry_run` what it would touch. */
  command(body: Body<'commandRuns'>, options?: CallOptions): Promise<Answer<'commandRuns'>> {
    return this.client.request('commandRuns', { ...options, body });
  }
}

/** `client.reviews`: what people say of rows of jobs and of live answers. */
export class Reviews extends Resource {
  /** Says something of a row's trace or of a live answer; replaces what the same reviewer said. */
  put(jobId: string, subjectId: string, body: Body<'putReview'>, options?: CallOptions): Promise<Answer<'putReview'>> {
    return this.client.request('putReview', { ...options, path: { job_id: jobId, subject_id: subjectId }, body });
  }

  /** Takes a review back. */
  delete(
    jobId: string,
    subjectId: string,
    { by, ...options }: Query<'deleteReview'> & CallOptions = {},
  ): Promise<undefined> {
    const path = { job_id: jobId, subject_id: subjectId };
    return this.client.request('deleteReview', { ...options, path, query: { by } });
  }

  /** Reviews, newest first. */
  list(query?: Query<'listReviews'>, options?: CallOptions): AsyncGenerator<Item<'listReviews'>, void> {
    return this.client.list('listReviews', { ...options, query });
  }

  /** What is to be reviewed next, and how much is done and left. */
  queue(query: Query<'getReviewQueue'>, options?: CallOptions): Promise<Answer<'getReviewQueue'>> {
    return this.client.request('getReviewQueue', { ...options, query });
  }
}
