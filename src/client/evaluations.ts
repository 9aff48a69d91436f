import type { Event } from './api.js';
import { creation, type Creation } from './handle.js';
import { Job } from './jobs.js';
import type { Operations } from './operations.js';
import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, EventOptions, Item, Query } from './types.js';

/** An evaluation. */
export class EvaluationHandle extends Job<'Evaluation'> {
  protected readonly kind = 'Evaluation';
  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('streamEvaluationEvents', { ...options, path: this.path });
  }

  /** The results seed by seed, also while it runs; with `include: 'outputs'`, those of a filter. */
  results(query?: Query<'getEvaluationResults'>, options?: CallOptions): Promise<Answer<'getEvaluationResults'>> {
    return this.client.request('getEvaluationResults', { ...options, path: this.path, query });
  }

  /** An evaluation with the same request but for the fields of `body`. */
  clone(body?: Body<'cloneEvaluation'>, options?: CallOptions): Creation<EvaluationHandle> {
    return creation(this.call('cloneEvaluation', { ...options, body }), open(this.client));
  }
}

/** `client.evaluations` */
export class Evaluations extends Resource {
  create(body: Body<'createEvaluation'>, options?: CallOptions): Creation<EvaluationHandle> {
    return creation(this.client.request('createEvaluation', { ...options, body }), open(this.client));
  }

  /** The answers to a few rows, within a minute; lists leave the evaluation out. */
  tryRows(body: Body<'tryPrompt'>, options?: CallOptions): Promise<Answer<'tryPrompt'>> {
    return this.client.request('tryPrompt', { ...options, body });
  }

  /** An evaluation by its id, without asking the service. */
  handle(id: string): EvaluationHandle {
    return new EvaluationHandle(this.client, id);
  }

  list(query?: Query<'listEvaluations'>, options?: CallOptions): AsyncGenerator<Item<'listEvaluations'>, void> {
    return this.client.list('listEvaluations', { ...options, query });
  }
}

const open =
  (client: Operations) =>
  (created: Answer<'createEvaluation'>): EvaluationHandle =>
    new EvaluationHandle(client, created.job_id, created);
