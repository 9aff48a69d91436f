import type { z } from 'zod';
import { isTerminal } from '../../src/core/jobs/status.js';
import { jobKinds } from '../../src/core/jobs/kinds.js';
import type { migrationSchema } from '../../src/kinds/migration/contract/migration.js';
import type { Api } from './api.js';
import { deployments } from './jobs-over-http.js';
import { until } from './until.js';

export type Migration = z.output<typeof migrationSchema>;
export const migrations = jobKinds.migration.path;

interface Served {
  api: Api;
}

/** Creates a migration of a name; returns its id. */
export async function migrate({ api }: Served, name: string, body: object): Promise<string> {
  return (await api.call<{ job_id: string }>('POST', `${deployments}/${name}/migrations`, body)).job_id;
}

export const readMigration = ({ api }: Served, id: string): Promise<Migration> =>
  api.call<Migration>('GET', `${migrations}/${id}`);

/** Waits until a migration is completed, failed or cancelled. */
export function migrated(served: Served, id: string, seconds = 60): Promise<Migration> {
  return until(
    `${id} has ended`,
    async () => {
      const migration = await readMigration(served, id);
      return isTerminal(migration.status) && migration;
    },
    seconds,
    200,
  );
}
