import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { link } from '../../util/router.js';

const listed = 200;

export const useDeployments = () =>
  useResource('playground', (signal) => client.value.request('listDeployments', { query: { limit: listed }, signal }));

/** A deployment with its snapshot; undefined: none is chosen. */
export function useServed(ref: string) {
  return useResource(`served ${ref}`, async (signal) => {
    if (ref === '') return undefined;
    const deployment = await client.value.deployments.handle(ref).get({ signal });
    const id = deployment.snapshot_id;
    return { deployment, snapshot: id === null ? undefined : await client.value.deployments.snapshot(id, { signal }) };
  });
}

export type Served = NonNullable<ReturnType<typeof useServed>['data']>;

/** The page that deploys the baseline of a session; null: there is none beside the candidate. */
export function useBaselineLink(served: Served | undefined): string | null {
  const { session_id: session = null, candidate_id: candidate = null } = served?.deployment.source ?? {};
  const { data } = useResource(`baseline ${session}`, async (signal) =>
    session === null ? null : client.value.request('getSession', { path: { session_id: session }, signal }),
  );
  const baseline = data?.lever_summary.baseline_candidate_id ?? null;
  if (session === null || baseline === null || baseline === candidate) return null;
  return link(['deployments'], { source: session, candidate: baseline });
}

/** Mistral refuses to be asked for the usage that it sends always. */
export const asksUsage = (served: Served | undefined): boolean =>
  !(served?.snapshot?.kind === 'messages' && served.snapshot.policy.provider === 'mistral');
