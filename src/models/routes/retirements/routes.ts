import {
  retirementListSchema,
  retirementQuerySchema,
  type ModelRole,
  type RetirementView,
} from '../../../contracts/retirements.js';
import { daysLeft, readProviders, retirementOf, type Retirement } from '../../../core/retirements/lookup.js';
import { namedModels, type NamedModel } from './named-models.js';
import { listOpenSpecs } from '../../../jobs/store/open-jobs.js';
import {
  listLiveModels,
  listOtherModels,
  type NamingDeployment,
} from '../../../kinds/deployment/store/named-models.js';
import { mapLimited } from '../../../util/map-limited.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { problems } from '../../../platform/http/server/schema.js';
import type { ListedEnd } from '../../client/listed-ends.js';

/** The most names and the most jobs that are read. */
const most = 1_000;

/** What names a model, as what. */
type Use = Pick<RetirementView, 'kind' | 'id' | 'name' | 'live'> & NamedModel;

/** Which deployments and open jobs name a model with a known end. */
export function registerRetirements(app: App, deps: HttpDeps): void {
  app.get(
    '/api/v1/models/retirements',
    {
      schema: {
        tags: ['Service'],
        operationId: 'listRetirements',
        summary: 'Deployments and open jobs that name a model with a known end',
        description:
          "The ends are those of a dated table of the vendors' pages, and of the lists of models of OpenAI and Mistral, read within 3 s and kept for an hour. No known end does not say that a model stays.",
        querystring: retirementQuerySchema,
        response: { 200: retirementListSchema, ...problems(422) },
      },
    },
    async ({ caller: { orgId }, query }) => {
      const { uses, complete } = await usesOf(deps, orgId, query.all);
      const lists = await readLists(deps, orgId, uses);
      const now = Date.now();
      const within = query.within_days ?? Infinity;
      const retirements = uses
        .flatMap((use) => {
          const end = endOf(use, lists);
          return end ? [view(use, end, now)] : [];
        })
        .filter(({ days_left: left }) => left <= within)
        .sort(byUrgency);
      return { retirements, unknown_providers: unknownProviders(uses, lists), complete };
    },
  );
}

async function usesOf({ db }: HttpDeps, orgId: string, all: boolean): Promise<{ uses: Use[]; complete: boolean }> {
  return db.org(orgId, async (tx) => {
    const [live, open, others] = await Promise.all([
      listLiveModels(tx, most + 1),
      listOpenSpecs(tx, most + 1),
      all ? listOtherModels(tx, most) : [],
    ]);
    const jobs = open.slice(0, most).flatMap(({ id, kind, name, spec }) => {
      return namedModels(spec).map((named): Use => ({ kind, id, name, live: false, ...named }));
    });
    const uses = [...live.slice(0, most).flatMap(usesOfDeployment), ...jobs, ...others.flatMap(usesOfDeployment)];
    return { uses, complete: live.length <= most && open.length <= most };
  });
}

function usesOfDeployment({ id, name, live, models, fallbacks, judges }: NamingDeployment): Use[] {
  const of = (role: ModelRole, named: NamingDeployment['models']) =>
    named.map(({ provider, model }): Use => ({ kind: 'deployment', id, name, live, role, provider, model }));
  return [...of('policy', models), ...of('fallback', fallbacks), ...of('judge', judges)];
}

type Lists = ReadonlyMap<string, ListedEnd | null>;

/** The lists of the providers that are named; one that cannot be read is told, and ends nothing. */
async function readLists({ listedEnds, shutdown }: HttpDeps, orgId: string, uses: readonly Use[]): Promise<Lists> {
  const providers = [...new Set(uses.map(({ provider }) => provider))];
  return new Map(
    await mapLimited(
      providers,
      4,
      async (provider) => [provider, await listedEnds(orgId, provider, shutdown)] as const,
    ),
  );
}

/** The provider's list comes first: it is of now. The table has the replacement that it lacks. */
function endOf(use: Use, lists: Lists): Retirement | null {
  const known = retirementOf(use);
  const list = lists.get(use.provider);
  const listed = list?.ok ? list.ends.get(use.model) : undefined;
  return listed ? { ...listed, replacement: listed.replacement ?? known?.replacement ?? null } : known;
}

function unknownProviders(uses: readonly Use[], lists: Lists) {
  return [...new Set(uses.map(({ provider }) => provider))].sort().flatMap((provider) => {
    const list = lists.get(provider);
    if (list?.ok || provider === 'local') return [];
    if (list) return [{ provider, reason: `${list.why}; its ends are those of the table` }];
    return readProviders.has(provider) ? [] : [{ provider, reason: 'no page of it is in the table' }];
  });
}

function view({ kind, id, name, live, role, provider, model }: Use, end: Retirement, now: number): RetirementView {
  const { shutdownDate, replacement, source, asOf } = end;
  const left = daysLeft(shutdownDate, now);
  const of = { kind, id, name, live, role, provider, model };
  return { ...of, shutdown_date: shutdownDate, days_left: left, replacement, source, as_of: asOf };
}

/** Live deployments first, then the earliest end, then by name and id. */
function byUrgency(a: RetirementView, b: RetirementView): number {
  const key = ({ live, shutdown_date: date, name, id }: RetirementView) =>
    [live ? '0' : '1', date, name ?? '', id].join('\n');
  return key(a) < key(b) ? -1 : 1;
}
