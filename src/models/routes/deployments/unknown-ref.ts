import { longestRef, parseRef } from '../../../core/deployments/ref.js';
import type { Tx } from '../../../platform/db/db.js';
import { ApiError } from '../../../platform/http/server/errors.js';
import { readVersionNumbers } from '../../../kinds/deployment/store/deployments.js';
import { listLabels } from '../../../kinds/deployment/store/names.js';

const mostNamed = 10;

/** What a name has in place of an unknown label or version; empty: the reference has neither. */
export async function whatNameHas(tx: Tx, ref: string): Promise<string> {
  const { name, label, version } = parseRef(ref);
  if (label === null && version === null) return '';
  const { newest, count } = await readVersionNumbers(tx, name, mostNamed);
  if (newest.length === 0) return `No deployment has the name ${name.slice(0, 100)}.`;
  const labels = (await listLabels(tx, name)).map((known) => known.label);
  const [shown, versions] = [labels.slice(0, mostNamed), newest.toReversed()];
  const rest = (all: number, some: unknown[]) => (all > some.length ? ` and ${all - some.length} more` : '');
  const ofLabels = shown.length === 0 ? 'no labels' : `the labels ${shown.join(', ')}${rest(labels.length, shown)}`;
  return `${name} has ${ofLabels}, and the versions ${versions.join(', ')}${rest(count, versions)}.`;
}

/** The refusal of a reference that names no deployment. */
export async function unknownRef(tx: Tx, ref: string): Promise<ApiError> {
  const known = await whatNameHas(tx, ref);
  const message = `No deployment ${ref.slice(0, longestRef)} found for this key.`;
  return new ApiError(404, 'not_found', known === '' ? message : `${message} ${known}`);
}
