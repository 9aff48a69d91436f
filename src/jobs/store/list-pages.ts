/** Pages of jobs, newest first. Each reads an index in the order of the page. */
import type { Labels } from '../../contracts/labels.js';
import type { JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { Position } from '../../platform/db/positions.js';
import { labelKeys, storedLabel } from './labels.js';

/** `after`: the position of the last job of the previous page. */
export interface JobFilter {
  kind: JobKind;
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
  after?: Position | undefined;
}

/** SQL that selects the ids of a page, and its values; the caller adds conditions and the limit. */
export class JobPage {
  readonly values: unknown[] = [];
  private readonly from: string;
  private readonly order: string;
  private readonly conditions: string[];

  constructor(filter: JobFilter) {
    const [first, ...others] = labelKeys({ tags: filter.tags ?? [], metadata: filter.metadata ?? {} });
    // Row-level security keeps `tags @>` from an index; rows of a label have the page's order.
    const by = first === undefined ? 'j' : 'l';
    const id = first === undefined ? 'j.id' : 'l.job_id';
    this.from = first === undefined ? 'jobs j' : 'job_labels l join jobs j on j.id = l.job_id';
    this.order = `${by}.created_at desc, ${id} desc`;
    this.conditions = [`${by}.org_id = current_setting('app.org')`, `${by}.kind = ${this.value(filter.kind)}`];
    if (first !== undefined) this.add(`l.label = ${this.label(first)}`);
    for (const label of others)
      this.add(`exists (select from job_labels o where o.job_id = ${id} and o.label = ${this.label(label)})`);
    if (filter.state) this.add(`j.status = ${this.value(filter.state)}`);
    this.add('not j.deleted');
    if (filter.createdBy !== undefined) this.add(`j.key_id = ${this.value(filter.createdBy)}`);
    if (!filter.archived) this.add('not j.archived');
    if (filter.name !== undefined)
      this.add(`j.name is not null and strpos(lower(j.name), lower(${this.value(filter.name)})) > 0`);
    // Compared by milliseconds, as in responses; the column stays unchanged for the index.
    if (filter.createdAfter !== undefined) {
      const after = `date_trunc('milliseconds', ${this.value(filter.createdAfter)}::timestamptz)`;
      this.add(`${by}.created_at >= ${after} + interval '1 millisecond'`);
    }
    if (filter.createdBefore !== undefined)
      this.add(`${by}.created_at < ${this.value(filter.createdBefore)}::timestamptz`);
    if (filter.after) {
      const { createdAt, id: last } = filter.after;
      this.add(`(${by}.created_at, ${id}) < (${this.value(createdAt)}::timestamptz, ${this.value(last)})`);
    }
  }

  /** The placeholder of a value. */
  value(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  private label(label: string): string {
    return storedLabel(`${this.value(label)}::text`);
  }

  add(condition: string): void {
    this.conditions.push(condition);
  }

  /** `join`: further tables of the conditions. */
  ids({ join = '', limit, offset = 0 }: { join?: string; limit: number; offset?: number }): string {
    return `select j.id from ${this.from} ${join} where ${this.conditions.join(' and ')}
      order by ${this.order} limit ${this.value(limit)} offset ${this.value(offset)}`;
  }
}
