import { useState } from 'preact/hooks';
import type { Answer } from '../../../src/client/index.js';
import { isTerminal } from '../../../src/core/jobs/status.js';
import { client } from './client.js';
import { useResource } from './resource.js';

export type Migration = Answer<'getMigration'>;

const pollMs = 1_500;

/** A migration; asked again until it has ended. */
export function useMigration(id: string) {
  const [isActive, setActive] = useState(true);
  const load = async (signal: AbortSignal): Promise<Migration> => {
    const migration = await client.value.migrations.handle(id).get({ signal });
    setActive(!isTerminal(migration.status));
    return migration;
  };
  return useResource(`migration ${id}`, load, isActive ? pollMs : null);
}
