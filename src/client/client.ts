import { Keys, Organizations, ProviderKeys } from './access.js';
import { Datasets } from './datasets.js';
import {
  Checkups,
  Deployments,
  Migrations,
  type CheckupHandle,
  type DeploymentHandle,
  type MigrationHandle,
} from './deployments.js';
import { Evaluations, type EvaluationHandle } from './evaluations.js';
import { Graphs, type GraphHandle } from './graphs.js';
import type { Creation } from './handle.js';
import { Reviews, Runs } from './jobs.js';
import { Operations } from './operations.js';
import type { Prompt } from './prompt.js';
import { Prompts, type PromptOptions } from './prompts.js';
import { Schedules } from './schedules.js';
import { Sessions, type SessionHandle } from './sessions.js';
import type { Answer, Body, CallOptions, Query } from './types.js';

/**
 * A client of the service. Resources have methods for daily use; `request`, `download`, `list` and
 * `events` call every operation of the OpenAPI document by its id.
 */
export class Ratchet extends Operations {
  readonly sessions = new Sessions(this);
  readonly evaluations = new Evaluations(this);
  readonly graphs = new Graphs(this);
  readonly deployments = new Deployments(this);
  readonly migrations = new Migrations(this);
  readonly checkups = new Checkups(this);
  readonly schedules = new Schedules(this);
  readonly runs = new Runs(this);
  readonly reviews = new Reviews(this);
  readonly datasets = new Datasets(this);
  readonly orgs = new Organizations(this);
  readonly keys = new Keys(this);
  readonly providerKeys = new ProviderKeys(this);
  private readonly prompts = new Prompts(this);

  createSession(body: Body<'createSession'>, options?: CallOptions): Creation<SessionHandle> {
    return this.sessions.create(body, options);
  }

  createEvaluation(body: Body<'createEvaluation'>, options?: CallOptions): Creation<EvaluationHandle> {
    return this.evaluations.create(body, options);
  }

  createGraph(body: Body<'createGraphJob'>, options?: CallOptions): Creation<GraphHandle> {
    return this.graphs.create(body, options);
  }

  createDeployment(body: Body<'createDeployment'>, options?: CallOptions): Creation<DeploymentHandle> {
    return this.deployments.create(body, options);
  }

  /** What runs under an id, of which the prefix names the kind; any other id is a deployment's. */
  handle(
    id: string,
  ): SessionHandle | EvaluationHandle | GraphHandle | DeploymentHandle | MigrationHandle | CheckupHandle {
    if (id.startsWith('ses_')) return this.sessions.handle(id);
    if (id.startsWith('evl_')) return this.evaluations.handle(id);
    if (id.startsWith('grf_')) return this.graphs.handle(id);
    if (id.startsWith('mig_')) return this.migrations.handle(id);
    if (id.startsWith('chk_')) return this.checkups.handle(id);
    return this.deployments.handle(id);
  }

  /**
   * The prompt of a deployment, to call the model yourself: from memory, the service, or what is
   * known in an outage.
   */
  prompt(name: string, options?: PromptOptions): Promise<Prompt> {
    return this.prompts.get(name, options);
  }

  /** The difference of two jobs, candidates or deployments on common seeds. */
  compare(a: string, b: string, options?: CallOptions): Promise<Answer<'compareCandidates'>> {
    return this.request('compareCandidates', { ...options, query: { a, b } });
  }

  /** Up to eight jobs, candidates or deployments beside one of them, by default the first. */
  compareMany(
    ids: readonly string[],
    { baseline, ...options }: CallOptions & { baseline?: string } = {},
  ): Promise<Answer<'compareMany'>> {
    return this.request('compareMany', { ...options, query: { ids: ids.join(','), ...(baseline && { baseline }) } });
  }

  /** A page of the rows of `compareMany`, with the answers of all columns. */
  comparedRows(
    ids: readonly string[],
    query: Omit<Query<'listComparedRows'>, 'ids'> = {},
    options?: CallOptions,
  ): Promise<Answer<'listComparedRows'>> {
    return this.request('listComparedRows', { ...options, query: { ...query, ids: ids.join(',') } });
  }

  /** Replaces the secret that signs webhooks; the previous one signs as well for a grace. */
  rotateWebhookSecret(
    body: Body<'rotateWebhookSecret'> = {},
    options?: CallOptions,
  ): Promise<Answer<'rotateWebhookSecret'>> {
    return this.request('rotateWebhookSecret', { ...options, body });
  }

  /** The secret that signs webhooks. */
  webhookSecret(options?: CallOptions): Promise<Answer<'getWebhookSecret'>> {
    return this.request('getWebhookSecret', options);
  }

  /** The model providers, and what is missing if one is not usable. */
  providers(options?: CallOptions): Promise<Answer<'listProviders'>> {
    return this.request('listProviders', options);
  }

  /** What is slow or failing now, and which jobs and deployments it affects. */
  health(options?: CallOptions): Promise<Answer<'getHealth'>> {
    return this.request('getHealth', options);
  }

  /** Deployments and open jobs that name a model with a known end, the live ones first. */
  retirements(query: Query<'listRetirements'> = {}, options?: CallOptions): Promise<Answer<'listRetirements'>> {
    return this.request('listRetirements', { ...options, query });
  }
}
