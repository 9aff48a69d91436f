/** What a name and its labels serve. Every change holds the lock of the name. */
import { liveLabel } from '../../../core/deployments/ref.js';
import { recordServiceChange } from '../../../access/store/audit-log.js';
import type { Tx } from '../../../platform/db/db.js';
import type { JobRef } from '../../../jobs/store/events.js';
import { endSchedules } from '../../../schedules/store/schedules.js';
import { recordChange, type ChangedBy } from './changes.js';
import { endCanary } from './canaries.js';

/** The most labels of a name, beside that of what it serves. */
export const mostLabels = 50;

/** A change by the service itself. */
export const byService: ChangedBy = { keyId: null, reason: null };

export async function lockName(tx: Tx, name: string): Promise<void> {
  await tx.query(
    `select 1 from deployment_versions where org_id = current_setting('app.org') and name = $1 for update`,
    [name],
  );
}

interface Holder extends Record<string, unknown> {
  id: string;
  version: number;
  isDeleted: boolean;
}

/** The deployment that has a name, deleted or not; null: none. */
async function holderOf(tx: Tx, name: string): Promise<Holder | null> {
  const [row] = await tx.query<Holder>(
    `select d.id, d.version, d.deleted_at is not null as "isDeleted"
       from deployment_names n join deployments d on d.id = n.deployment_id
      where n.org_id = current_setting('app.org') and n.name = $1`,
    [name],
  );
  return row ?? null;
}

const liveVersion = (holder: Holder | null) => (holder && !holder.isDeleted ? holder.version : null);

async function give(tx: Tx, name: string, id: string): Promise<void> {
  await tx.query(
    `insert into deployment_names (org_id, name, deployment_id) values (current_setting('app.org'), $1, $2)
     on conflict (org_id, name) do update set deployment_id = excluded.deployment_id`,
    [name, id],
  );
}

/** By what a deployment gets its name; absent: its creator, when it is built. */
interface Promotion {
  /** A deployment's id that must still serve the name; null: none may. */
  judgedAgainst?: string | null | undefined;
  canary?: ChangedBy;
}

/** Promotes a deployment to its name; the caller holds its job's lock. */
export async function promote(
  tx: Tx,
  { orgId, jobId }: JobRef,
  { judgedAgainst, canary }: Promotion = {},
): Promise<'promoted' | 'deleted' | 'moved'> {
  const [promoted] = await tx.query<ChangedBy & { name: string; version: number }>(
    `select d.name, d.version, d.reason, j.key_id as "keyId" from deployments d join jobs j on j.id = d.id where d.id = $1`,
    [jobId],
  );
  const { name, version, ...by } = promoted!;
  await lockName(tx, name);
  const holder = await holderOf(tx, name);
  const before = holder?.id === jobId ? null : (holder?.id ?? null);
  const live = holder?.isDeleted ? null : before;
  if (judgedAgainst !== undefined && live !== judgedAgainst) return 'moved';
  const rows = await tx.query(
    'update deployments set live_at = now(), previous_id = $2 where id = $1 and deleted_at is null returning id',
    [jobId, before],
  );
  if (rows.length === 0) return 'deleted';
  await give(tx, name, jobId);
  const change = { name, label: liveLabel, from: liveVersion(holder), to: version };
  await recordChange(tx, { ...change, action: canary ? 'canary' : 'build' }, canary ?? by);
  await recordServiceChange(tx, { orgId, action: 'promote', params: { deployment_id: jobId } });
  return 'promoted';
}

/** The deployment that serves the name after a rollback. */
export interface ServingDeployment extends Record<string, unknown> {
  id: string;
  version: number;
  snapshotId: string;
}

/**
 * Rolls a name back to the previous deployment that is not deleted. Returns it, or why the rollback
 * was refused: another deployment serves the name, or no previous deployment exists.
 */
export async function rollBack(
  tx: Tx,
  { id, name }: { id: string; name: string },
  by: ChangedBy,
): Promise<ServingDeployment | 'not_live' | 'none_before'> {
  await lockName(tx, name);
  const holder = await holderOf(tx, name);
  if (holder?.id !== id) return 'not_live';
  const [before] = await tx.query<ServingDeployment>(
    `with recursive back as (
       select previous_id as id, 1 as depth from deployments where id = $1
       union all
       select d.previous_id, depth + 1 from back join deployments d on d.id = back.id where d.deleted_at is not null
     )
     select d.id, d.version, d.snapshot_id as "snapshotId" from back join deployments d on d.id = back.id
      where d.deleted_at is null order by depth limit 1`,
    [id],
  );
  if (!before) return 'none_before';
  await give(tx, name, before.id);
  const change = { name, label: liveLabel, action: 'rollback' as const, to: before.version };
  await recordChange(tx, { ...change, from: liveVersion(holder) }, by);
  return before;
}

/** A deployment of a name, by its number or its id. */
export type Target = { version: number } | { id: string };

/** A label that was set, and the version before it; or why it was not. */
export type LabelOutcome =
  { is: 'set'; id: string; version: number; previous: number | null } | { is: 'unknown' | 'not_ready' | 'full' };

/** Sets a label of a name to a deployment that is ready; `production` gives it the name. */
export async function setLabel(
  tx: Tx,
  { name, label, target }: { name: string; label: string; target: Target },
  by: ChangedBy,
): Promise<LabelOutcome> {
  await lockName(tx, name);
  const [column, value] = 'id' in target ? ['id', target.id] : ['version', target.version];
  const [found] = await tx.query<{ id: string; version: number; isReady: boolean }>(
    `select id, version, live_at is not null as "isReady" from deployments
      where org_id = current_setting('app.org') and name = $1 and ${column} = $2 and deleted_at is null`,
    [name, value],
  );
  if (!found) return { is: 'unknown' };
  const { id, version, isReady } = found;
  if (!isReady) return { is: 'not_ready' };
  const previous = label === liveLabel ? await takeName(tx, name, id) : await moveLabel(tx, { name, label, id });
  if (previous === 'full') return { is: 'full' };
  if (previous !== version) await recordChange(tx, { name, label, action: 'label', from: previous, to: version }, by);
  return { is: 'set', id, version, previous };
}

/** Gives a name to a deployment by hand; returns the version before. A rollback returns to it. */
async function takeName(tx: Tx, name: string, id: string): Promise<number | null> {
  const holder = await holderOf(tx, name);
  if (holder?.id !== id) {
    // Each deployment stands once in the order of those before: it leaves its earlier place.
    await tx.query(
      `update deployments d set previous_id = moved.previous_id from deployments moved
        where moved.id = $1 and d.previous_id = moved.id`,
      [id],
    );
    await tx.query('update deployments set previous_id = $2 where id = $1', [id, holder?.id ?? null]);
    await give(tx, name, id);
  }
  return liveVersion(holder);
}

/** Sets another label; returns the version before. */
async function moveLabel(
  tx: Tx,
  { name, label, id }: { name: string; label: string; id: string },
): Promise<number | null | 'full'> {
  const labels = await tx.query<{ label: string; version: number }>(
    `select l.label, d.version from deployment_labels l join deployments d on d.id = l.deployment_id
      where l.org_id = current_setting('app.org') and l.name = $1`,
    [name],
  );
  const previous = labels.find((other) => other.label === label)?.version ?? null;
  if (previous === null && labels.length >= mostLabels) return 'full';
  await tx.query(
    `insert into deployment_labels (org_id, name, label, deployment_id) values (current_setting('app.org'), $1, $2, $3)
     on conflict (org_id, name, label) do update set deployment_id = excluded.deployment_id`,
    [name, label, id],
  );
  return previous;
}

/** Removes a label, but that of what the name serves. Returns whether this call did it. */
export async function removeLabel(
  tx: Tx,
  { name, label }: { name: string; label: string },
  by: ChangedBy,
): Promise<boolean> {
  await lockName(tx, name);
  const [removed] = await tx.query<{ version: number }>(
    `delete from deployment_labels l using deployments d
      where l.org_id = current_setting('app.org') and l.name = $1 and l.label = $2 and d.id = l.deployment_id
     returning d.version`,
    [name, label],
  );
  if (!removed) return false;
  await recordChange(tx, { name, label, action: 'label', from: removed.version, to: null }, by);
  return true;
}

/** A label and the deployment that it names. */
export interface Label extends Record<string, unknown> {
  label: string;
  id: string;
  version: number;
  snapshotId: string;
}

/** The labels of a name, first the live one. */
export async function listLabels(tx: Tx, name: string): Promise<Label[]> {
  return tx.query<Label>(
    `select l.label, d.id, d.version, d.snapshot_id as "snapshotId" from (
       select '${liveLabel}' as label, deployment_id, 0 as place from deployment_names
        where org_id = current_setting('app.org') and name = $1
       union all
       select label, deployment_id, 1 from deployment_labels where org_id = current_setting('app.org') and name = $1
     ) l join deployments d on d.id = l.deployment_id
      where d.deleted_at is null order by l.place, l.label`,
    [name],
  );
}

/** Deletes a deployment and its labels; its snapshot stays. Returns whether this call did it. */
export async function deleteDeployment(tx: Tx, id: string, by: ChangedBy): Promise<boolean> {
  const [named] = await tx.query<{ name: string }>('select name from deployments where id = $1', [id]);
  if (!named) return false;
  const { name } = named;
  await lockName(tx, name);
  const holder = await holderOf(tx, name);
  const [deleted] = await tx.query<{ version: number }>(
    'update deployments set deleted_at = now() where id = $1 and deleted_at is null returning version',
    [id],
  );
  if (!deleted) return false;
  await endCanary(tx, id, {
    status: 'rolled_back',
    reason: 'Rolled back: its deployment was deleted.',
    evidence: null,
  });
  await tx.query('delete from deployment_judgements where deployment_id = $1', [id]);
  await endSchedules(tx, name);
  const labels = await tx.query<{ label: string }>(
    'delete from deployment_labels where deployment_id = $1 returning label',
    [id],
  );
  const change = { name, action: 'delete' as const, from: deleted.version, to: null };
  for (const { label } of [...(holder?.id === id ? [{ label: liveLabel }] : []), ...labels])
    await recordChange(tx, { ...change, label }, by);
  return true;
}
