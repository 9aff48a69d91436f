import type { Event } from './api.js';
import { creation, Handle, type Creation } from './handle.js';
import type { Operations } from './operations.js';
import { Resource } from './resource.js';
import { ScheduleHandle } from './schedules.js';
import type { Answer, Body, CallOptions, EventOptions, Item, Query } from './types.js';

/** Models may think for long. */
const chatTimeoutMs = 600_000;

/** A deployment, by its id, its name, NAME@LABEL or NAME@VERSION; `wait` ends with its gate. */
export class DeploymentHandle extends Handle<Answer<'getDeployment'>, Answer<'createDeployment'>> {
  private get path() {
    return { deployment_id: this.id };
  }

  get(options?: CallOptions): Promise<Answer<'getDeployment'>> {
    return this.client.request('getDeployment', { ...options, path: this.path });
  }

  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('listDeploymentEvents', { ...options, path: this.path });
  }

  /** OpenAI's chat completion. The `openai` package streams it: see the reference. */
  chat(body: Body<'callDeployment'>, options?: CallOptions): Promise<Answer<'callDeployment'>> {
    const args = { timeoutMs: chatTimeoutMs, ...options, path: this.path, body };
    return this.client.request('callDeployment', args);
  }

  /** Reports how good an answer was: `answer_id` is the completion's `id`. */
  feedback(body: Body<'reportFeedback'>, options?: CallOptions): Promise<Answer<'reportFeedback'>> {
    return this.client.request('reportFeedback', { ...options, path: this.path, body });
  }

  /** What was reported of its answers, newest first. */
  listFeedback(query?: Query<'listFeedback'>, options?: CallOptions): AsyncGenerator<Item<'listFeedback'>, void> {
    return this.client.list('listFeedback', { ...options, path: this.path, query });
  }

  /** Counts, latencies and metrics of its requests. */
  stats(options?: CallOptions): Promise<Answer<'getDeploymentStats'>> {
    return this.client.request('getDeploymentStats', { ...options, path: this.path });
  }

  /** The same by hour or minute; of a name for all its deployments. */
  history(query?: Query<'getDeploymentHistory'>, options?: CallOptions): Promise<Answer<'getDeploymentHistory'>> {
    return this.client.request('getDeploymentHistory', { ...options, path: this.path, query });
  }

  /** The latest 50 failed requests, with their cause. */
  failures(options?: CallOptions): Promise<Answer<'listDeploymentFailures'>> {
    return this.client.request('listDeploymentFailures', { ...options, path: this.path });
  }

  /** Requests whose texts `log` keeps, newest first. */
  requests(
    query?: Query<'searchDeploymentRequests'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'searchDeploymentRequests'>, void> {
    return this.client.list('searchDeploymentRequests', { ...options, path: this.path, query });
  }

  /** Makes a data set of these requests. */
  datasetOfRequests(
    body?: Body<'createDatasetOfRequests'>,
    options?: CallOptions,
  ): Promise<Answer<'createDatasetOfRequests'>> {
    return this.client.request('createDatasetOfRequests', { ...options, path: this.path, body });
  }

  /** Deletes the texts of an answer. */
  deleteRequest(answerId: string, options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteDeploymentRequest', { ...options, path: { ...this.path, answer_id: answerId } });
  }

  /** Gives the name back to the deployment that had it before. */
  rollback(
    body?: NonNullable<Body<'rollBackDeployment'>>,
    options?: CallOptions,
  ): Promise<Answer<'rollBackDeployment'>> {
    return this.client.request('rollBackDeployment', { ...options, path: this.path, body });
  }

  /** How far its rollout has come; of a name that of the newest version. */
  rollout(options?: CallOptions): Promise<Answer<'getRollout'>> {
    return this.client.request('getRollout', { ...options, path: this.path });
  }

  /** Pauses, resumes, promotes or rolls back its rollout, or that of its name. */
  decideRollout(body: Body<'decideRollout'>, options?: CallOptions): Promise<Answer<'decideRollout'>> {
    return this.client.request('decideRollout', { ...options, path: this.path, body });
  }

  /** The labels of its name. */
  labels(options?: CallOptions): Promise<Answer<'listDeploymentLabels'>> {
    return this.client.request('listDeploymentLabels', { ...options, path: this.path });
  }

  /** Sets a label of its name to a version; `production` is what the name serves. */
  setLabel(
    label: string,
    body: Body<'setDeploymentLabel'>,
    options?: CallOptions,
  ): Promise<Answer<'setDeploymentLabel'>> {
    return this.client.request('setDeploymentLabel', { ...options, path: { ...this.path, label }, body });
  }

  removeLabel(label: string, options?: CallOptions): Promise<undefined> {
    return this.client.request('removeDeploymentLabel', { ...options, path: { ...this.path, label } });
  }

  /** What its name and the labels served, newest first. */
  changes(
    query?: Query<'listDeploymentChanges'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listDeploymentChanges'>, void> {
    return this.client.list('listDeploymentChanges', { ...options, path: this.path, query });
  }

  /** Moves what the name serves to another model, if it is no worse there. */
  migrate(body: Body<'createMigration'>, options?: CallOptions): Creation<MigrationHandle> {
    const made = this.client.request('createMigration', { ...options, path: this.path, body });
    return creation(made, (created) => new MigrationHandle(this.client, created.job_id, created));
  }

  /** Checks what the name serves again, and improves it if asked for. */
  checkUp(body?: Body<'createCheckup'>, options?: CallOptions): Creation<CheckupHandle> {
    const made = this.client.request('createCheckup', { ...options, path: this.path, body });
    return creation(made, (created) => new CheckupHandle(this.client, created.job_id, created));
  }

  /** Searches a better prompt on recent requests, and rolls it out. */
  improve(body?: Body<'improveDeployment'>, options?: CallOptions): Creation<CheckupHandle> {
    const made = this.client.request('improveDeployment', { ...options, path: this.path, body });
    return creation(made, (created) => new CheckupHandle(this.client, created.job_id, created));
  }

  /** Checks it up again and again. */
  async schedule(body: Body<'createSchedule'>, options?: CallOptions): Promise<ScheduleHandle> {
    const created = await this.client.request('createSchedule', { ...options, path: this.path, body });
    return new ScheduleHandle(this.client, created.schedule_id, created);
  }

  /** The schedules of its name, newest first. */
  schedules(
    query?: Query<'listSchedulesOfDeployment'>,
    options?: CallOptions,
  ): AsyncGenerator<Item<'listSchedulesOfDeployment'>, void> {
    return this.client.list('listSchedulesOfDeployment', { ...options, path: this.path, query });
  }

  /** Changes settings and labels, or archives. */
  update(body: Body<'updateDeployment'>, options?: CallOptions): Promise<Answer<'updateDeployment'>> {
    return this.client.request('updateDeployment', { ...options, path: this.path, body });
  }

  /** Stops serving it; its snapshot stays. */
  delete(options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteDeployment', { ...options, path: this.path });
  }
}

/** A move to another model; `wait` ends with its verdict. */
export class MigrationHandle extends Handle<Answer<'getMigration'>, Answer<'createMigration'>> {
  private get path() {
    return { job_id: this.id };
  }

  get(options?: CallOptions): Promise<Answer<'getMigration'>> {
    return this.client.request('getMigration', { ...options, path: this.path });
  }

  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('listMigrationEvents', { ...options, path: this.path });
  }

  /** Ends it, with the job that it waits for. */
  cancel(options?: CallOptions): Promise<Answer<'cancelMigration'>> {
    return this.client.request('cancelMigration', { ...options, path: this.path });
  }

  delete(options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteMigration', { ...options, path: this.path });
  }
}

/** `client.migrations` */
export class Migrations extends Resource {
  handle(id: string): MigrationHandle {
    return new MigrationHandle(this.client, id);
  }

  list(query?: Query<'listMigrations'>, options?: CallOptions): AsyncGenerator<Item<'listMigrations'>, void> {
    return this.client.list('listMigrations', { ...options, query });
  }
}

/** A checkup; `wait` ends with its verdict. */
export class CheckupHandle extends Handle<Answer<'getCheckup'>, Answer<'createCheckup'>> {
  private get path() {
    return { job_id: this.id };
  }

  get(options?: CallOptions): Promise<Answer<'getCheckup'>> {
    return this.client.request('getCheckup', { ...options, path: this.path });
  }

  events(options?: EventOptions): AsyncGenerator<Event, void> {
    return this.client.events('listCheckupEvents', { ...options, path: this.path });
  }

  /** Approves or rejects the deployment of its winner. */
  decide(body: Body<'decideCheckup'>, options?: CallOptions): Promise<Answer<'decideCheckup'>> {
    return this.client.request('decideCheckup', { ...options, path: this.path, body });
  }

  /** Ends it, with the job that it waits for. */
  cancel(options?: CallOptions): Promise<Answer<'cancelCheckup'>> {
    return this.client.request('cancelCheckup', { ...options, path: this.path });
  }

  delete(options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteCheckup', { ...options, path: this.path });
  }
}

/** `client.checkups` */
export class Checkups extends Resource {
  handle(id: string): CheckupHandle {
    return new CheckupHandle(this.client, id);
  }

  list(query?: Query<'listCheckups'>, options?: CallOptions): AsyncGenerator<Item<'listCheckups'>, void> {
    return this.client.list('listCheckups', { ...options, query });
  }
}

const pageSize = 50;

/** `client.deployments` */
export class Deployments extends Resource {
  create(body: Body<'createDeployment'>, options?: CallOptions): Creation<DeploymentHandle> {
    return creation(this.client.request('createDeployment', { ...options, body }), open(this.client));
  }

  /** A deployment by its id or its name, without asking the service. */
  handle(idOrName: string): DeploymentHandle {
    return new DeploymentHandle(this.client, idOrName);
  }

  /** The service numbers this list: one that is created meanwhile shifts it. */
  async *list(
    query: Query<'listDeployments'> = {},
    options?: CallOptions,
  ): AsyncGenerator<Answer<'listDeployments'>['deployments'][number], void> {
    const { limit = pageSize, offset: start = 0 } = query;
    for (let offset = start; ; offset += limit) {
      const page = await this.client.request('listDeployments', { ...options, query: { ...query, limit, offset } });
      yield* page.deployments;
      if (page.deployments.length < limit) return;
    }
  }

  /** Frozen content, which outlives its deployments. */
  snapshot(snapshotId: string, options?: CallOptions): Promise<Answer<'getSnapshot'>> {
    return this.client.request('getSnapshot', { ...options, path: { snapshot_id: snapshotId } });
  }
}

const open =
  (client: Operations) =>
  (created: Answer<'createDeployment'>): DeploymentHandle =>
    new DeploymentHandle(client, created.id, created);
