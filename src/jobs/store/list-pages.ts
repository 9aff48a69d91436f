/** Pages of jobs, newest first. Each reads an index in the order of the page. */
import type { Labels } from '../../contracts/labels.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { Position } from '../../platform/db/positions.js';
import { labelKeys, storedLabel } from './labels.js';

/** Which jobs a list has, whatever their kind. */
export interface JobMarks {
  state?: Status | undefined;
  /** Part of the name, in any case. */
  name?: string | undefined;
  /** All of these. */
  tags?: string[];
  /** All of these values. */
  metadata?: Labels['metadata'] | undefined;
  /** true: archived jobs, too. */
  archived?: boolean;
  /** The id of a key. */
  createdBy?: string | undefined;
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
}

/** `after`: the position of the last job of the previous page. */
export interface JobFilter extends JobMarks {
  kind: JobKind;
  after?: Position | undefined;
}

/** Conditions of SQL on jobs `j`, and their values. */
export class JobConditions {
  readonly values: unknown[] = [];
  protected readonly conditions: string[] = [];

  /** The placeholder of a value. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  add(condition: string): void {
    this.conditions.push(condition);
  }

  get sql(): string {
    return this.conditions.join(' and ');
  }

  /** Jobs with a label. `id`: SQL of their ids. */
  addLabel(label: string, id = 'j.id'): void {
    this.add(`exists (select from job_labels o where o.job_id = ${id} and o.label = ${this.label(label)})`);
  }

  protected label(label: string): string {
    return storedLabel(`${this.value(label)}::text`);
  }

  /** All but labels. `by`: the table that has the times of the jobs. */
  addMarks({ state, createdBy, archived, name, createdAfter, createdBefore }: JobMarks, by = 'j'): void {
    if (state) this.add(`j.status = ${this.value(state)}`);
    this.add('not j.deleted');
    if (createdBy !== undefined) this.add(`j.key_id = ${this.value(createdBy)}`);
    if (!archived) this.add('not j.archived');
    if (name !== undefined) this.add(`j.name is not null and strpos(lower(j.name), lower(${this.value(name)})) > 0`);
    // Compared by milliseconds, as in responses; the column stays unchanged for the index.
    if (createdAfter !== undefined) {
      const after = `date_trunc('milliseconds', ${this.value(createdAfter)}::timestamptz)`;
      this.add(`${by}.created_at >= ${after} + interval '1 millisecond'`);
    }
    if (createdBefore !== undefined) this.add(`${by}.created_at < ${this.value(createdBefore)}::timestamptz`);
  }
}

/** SQL that selects the ids of a page, and its values; the caller adds conditions and the limit. */
export class JobPage extends JobConditions {
  private readonly from: string;
  private readonly order: string;

  constructor(filter: JobFilter) {
    super();
    const [first, ...others] = labelKeys({ tags: filter.tags ?? [], metadata: filter.metadata ?? {} });
    // Row-level security keeps `tags @>` from an index; rows of a label have the page's order.
    const by = first === undefined ? 'j' : 'l';
    const id = first === undefined ? 'j.id' : 'l.job_id';
    this.from = first === undefined ? 'jobs j' : 'job_labels l join jobs j on j.id = l.job_id';
    this.order = `${by}.created_at desc, ${id} desc`;
    this.add(`${by}.org_id = current_setting('app.org')`);
    this.add(`${by}.kind = ${this.value(filter.kind)}`);
    if (first !== undefined) this.add(`l.label = ${this.label(first)}`);
    for (const label of others) this.addLabel(label, id);
    this.addMarks(filter, by);
    if (filter.after) {
      const { createdAt, id: last } = filter.after;
      this.add(`(${by}.created_at, ${id}) < (${this.value(createdAt)}::timestamptz, ${this.value(last)})`);
    }
  }

  /** `join`: further tables of the conditions. */
  ids({ join = '', limit, offset = 0 }: { join?: string; limit: number; offset?: number }): string {
    return `select j.id from ${this.from} ${join} where ${this.sql}
      order by ${this.order} limit ${this.value(limit)} offset ${this.value(offset)}`;
  }
}
