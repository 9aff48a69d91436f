import { kindOf } from '../../../../src/core/jobs/kinds.js';
import { client } from '../../data/client.js';
import { datasetName } from '../dataset-link.js';
import { shortId } from '../../util/format.js';
import { link, pageOf } from '../../util/router.js';
import { sections } from './sections.js';

/** Where the palette leads. */
export interface Target {
  href: string;
  name: string;
  kind: string;
}

const mostOfKind = 6;
/** Names are filtered here: these lists have no filter for a part of a name. */
const listed = 200;

/** Pages, and what an id names, without asking. */
export function known(text: string): Target[] {
  const pages = sections.map(({ name, parts }) => ({ name, kind: 'page', href: link(parts) }));
  const kind = kindOf(text);
  const ofId = kind ? [{ name: text, kind, href: pageOf(text) }] : [];
  const dataset = /^ds_\w+$/.test(text) ? [{ name: text, kind: 'data set', href: link(['datasets', text]) }] : [];
  return [...ofId, ...dataset, ...pages.filter(({ name }) => contains(name, text))];
}

/** Runs, data sets and deployments with the text in their name or id. */
export async function find(text: string, signal: AbortSignal): Promise<Target[]> {
  const [runs, datasets, { deployments }] = await Promise.all([
    client.value.runs.page({ ...(text && { name: text }), limit: mostOfKind }, { signal }),
    client.value.request('listDatasets', { query: { limit: listed }, signal }),
    client.value.request('listDeployments', { query: { limit: listed }, signal }),
  ]);
  const names = new Map(deployments.filter(({ live }) => live).map((each) => [each.name, each]));
  return [
    ...runs.data.map(({ job_id: id, name, kind }) => ({ name: name ?? shortId(id), kind, href: pageOf(id) })),
    ...datasets.data
      .filter(({ dataset_id: id, name }) => contains(name ?? '', text) || contains(id, text))
      .slice(0, mostOfKind)
      .map(({ dataset_id: id, name }) => ({
        name: datasetName({ dataset_id: id, name }),
        kind: 'data set',
        href: link(['datasets', id]),
      })),
    ...[...names.values()]
      .filter(({ id, name }) => contains(name, text) || contains(id, text))
      .slice(0, mostOfKind)
      .map(({ id, name }) => ({ name, kind: 'deployment', href: pageOf(id) })),
  ];
}

const contains = (whole: string, part: string): boolean => whole.toLowerCase().includes(part.toLowerCase());
