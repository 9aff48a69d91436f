import type { Operations } from './operations.js';
import { Resource } from './resource.js';
import type { Answer, Body, CallOptions, Item, Query } from './types.js';

/** A schedule of checkups. */
export class ScheduleHandle extends Resource {
  readonly id: string;
  /** The answer to its create; undefined where only the id is known. */
  readonly created: Answer<'createSchedule'> | undefined;

  constructor(client: Operations, id: string, created?: Answer<'createSchedule'>) {
    super(client);
    this.id = id;
    this.created = created;
  }

  private get path() {
    return { schedule_id: this.id };
  }

  /** With its latest runs. */
  get(options?: CallOptions): Promise<Answer<'getSchedule'>> {
    return this.client.request('getSchedule', { ...options, path: this.path });
  }

  /** Runs it now. */
  run(options?: CallOptions): Promise<Answer<'runSchedule'>> {
    return this.client.request('runSchedule', { ...options, path: this.path });
  }

  /** Changes or pauses it. */
  update(body: Body<'updateSchedule'>, options?: CallOptions): Promise<Answer<'updateSchedule'>> {
    return this.client.request('updateSchedule', { ...options, path: this.path, body });
  }

  delete(options?: CallOptions): Promise<undefined> {
    return this.client.request('deleteSchedule', { ...options, path: this.path });
  }
}

/** `client.schedules` */
export class Schedules extends Resource {
  handle(id: string): ScheduleHandle {
    return new ScheduleHandle(this.client, id);
  }

  list(query?: Query<'listSchedules'>, options?: CallOptions): AsyncGenerator<Item<'listSchedules'>, void> {
    return this.client.list('listSchedules', { ...options, query });
  }
}
