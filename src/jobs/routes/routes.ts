import { listQuerySchema, pageSchema } from '../../contracts/common.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { problems } from '../../platform/http/server/schema.js';
import { registerCommands } from './commands.js';
import { registerClone, registerCreate, registerRequest } from './creates.js';
import { registerDelete } from './delete.js';
import { registerEvents } from './events.js';
import { routeOf, type HttpKind, type JobRoute } from './kind.js';
import { listPage } from './lists.js';
import { registerReward } from './reward.js';
import { registerTraces } from './traces.js';

/** Registers all routes of a kind of job. */
export function registerKind(app: App, deps: HttpDeps, kind: HttpKind): void {
  const route = routeOf(deps, kind);
  registerCreate(app, deps, route, kind);
  registerReads(app, deps, route, kind);
  kind.registerOwn(app, deps, route);
  registerCommands(app, deps, route, kind.patchesAnyKind);
  registerDelete(app, deps, route);
  registerClone(app, deps, route, kind);
  registerRequest(app, deps, route, kind);
  registerReward(app, deps, route);
  registerEvents(app, deps, route, kind.eventPaths);
  registerTraces(app, deps, route);
}

/** Registers the list of a kind of job and the state of each. */
export function registerReads<Head>(
  app: App,
  deps: HttpDeps,
  route: JobRoute<Head>,
  kind: Pick<HttpKind<Head>, 'kind' | 'list' | 'state'>,
): void {
  const { list, state } = kind;
  const { tags, name } = route;

  app.get(
    route.base,
    {
      schema: {
        tags,
        operationId: `list${name}s`,
        summary: list.summary,
        querystring: listQuerySchema,
        response: { 200: pageSchema(list.item), ...problems(422) },
      },
    },
    ({ caller, query }) =>
      listPage<Head, object>(deps, caller.orgId, kind.kind, query, (job, costUsd) => list.view(job, costUsd, deps)),
  );

  app.get(
    route.path,
    {
      schema: {
        tags,
        operationId: `get${name}`,
        summary: state.summary,
        params: route.params,
        response: { 200: state.schema, ...problems(404) },
      },
    },
    async (request) => {
      const job = await route.find(request);
      return deps.db.org(job.orgId, (tx) => state.read(tx, job, deps));
    },
  );
}
