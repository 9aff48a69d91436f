import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import {
  changeScheduleSchema,
  createScheduleSchema,
  runView as runSchema,
  scheduleParams as params,
  scheduleSchema,
  schedulesQuerySchema,
  schedulesSchema,
  usualCheckup,
} from '../contract/schedule.js';
import { noQuerySchema } from '../../contracts/common.js';
import { find, path as deploymentPath } from '../../kinds/deployment/routes/find.js';
import { lockName } from '../../kinds/deployment/store/names.js';
import type { Tx } from '../../platform/db/db.js';
import { defaultTiming, type App, type HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { settleWithin } from '../../platform/http/server/in-time.js';
import { parseTimeCursor, timedPage } from '../../platform/http/server/pages.js';
import { bodyProblems, idempotencyHeader, problems } from '../../platform/http/server/schema.js';
import { insertRun, listRuns } from '../store/runs.js';
import {
  countSchedules,
  deleteSchedule,
  insertSchedule,
  listSchedules,
  lockSchedule,
  readSchedule,
  updateSchedule,
  type ScheduleRef,
  type ScheduleRow,
} from '../store/schedules.js';
import { changedSpec, checkSchedule } from './check.js';
import { runView, scheduleView, seeSchedules, summaryView } from './view.js';

const tags = ['Schedules'];
const base = '/api/harbor/schedules';
const path = `${base}/:schedule_id` as const;
const nameParams = z.object({
  deployment_id: z.string().describe('The name, or the id of a deployment of it.'),
});
/** Each is an object in Temporal. */
const mostOfName = 50;
const shownRuns = 20;

/** Schedules of what names serve. `due-runs` makes their jobs. */
export function registerSchedules(app: App, deps: HttpDeps): void {
  registerOfName(app, deps);
  registerReads(app, deps);
  registerChanges(app, deps);
  registerRun(app, deps);
}

function registerOfName(app: App, deps: HttpDeps): void {
  app.post(
    `${deploymentPath}/schedules`,
    {
      schema: {
        tags,
        operationId: 'createSchedule',
        summary: 'Check up what a name serves again and again',
        description:
          'Each run is a checkup of what the name serves then. Everything is checked now; what only a later run may meet is a warning.',
        params: nameParams,
        querystring: noQuerySchema,
        headers: idempotencyHeader,
        body: createScheduleSchema,
        response: { 201: scheduleSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) => {
      const { orgId, keyId } = request.caller;
      const { name } = await find(deps, request, request.params.deployment_id);
      const { paused, checkup = usualCheckup(), ...fields } = request.body;
      const spec = { ...fields, checkup };
      const warnings = await checkSchedule(deps, request.caller, { id: null, name, spec });
      const scheduleId = await deps.db.org(orgId, async (tx) => {
        await lockName(tx, name);
        if ((await countSchedules(tx, name)) >= mostOfName) throw tooMany(name);
        return insertSchedule(tx, { name, spec, paused, keyId });
      });
      await syncInTime(deps, { orgId, scheduleId });
      const view = await readView(deps, { orgId, scheduleId });
      void reply.header('location', `${base}/${scheduleId}`);
      return reply.code(201).send({ ...view, ...(warnings.length > 0 && { warnings }) });
    },
  );

  app.get(
    `${deploymentPath}/schedules`,
    {
      schema: {
        tags,
        operationId: 'listSchedulesOfDeployment',
        summary: 'The schedules of a name, newest first',
        params: nameParams,
        querystring: schedulesQuerySchema,
        response: { 200: schedulesSchema, ...problems(404, 422) },
      },
    },
    async (request) => {
      const { name } = await find(deps, request, request.params.deployment_id);
      return pageOf(deps, request, request.query, name);
    },
  );
}

function registerReads(app: App, deps: HttpDeps): void {
  app.get(
    base,
    {
      schema: {
        tags,
        operationId: 'listSchedules',
        summary: 'List schedules, newest first',
        querystring: schedulesQuerySchema,
        response: { 200: schedulesSchema, ...problems(422) },
      },
    },
    async (request) => pageOf(deps, request, request.query, null),
  );

  app.get(
    path,
    {
      schema: {
        tags,
        operationId: 'getSchedule',
        summary: 'A schedule with its latest runs',
        params,
        response: { 200: scheduleSchema, ...problems(404) },
      },
    },
    async (request) => readView(deps, refOf(request)),
  );
}

function registerChanges(app: App, deps: HttpDeps): void {
  app.patch(
    path,
    {
      schema: {
        tags,
        operationId: 'updateSchedule',
        summary: 'Change or pause a schedule',
        description:
          'Fields that are not given stay; cron and every replace each other. checkup replaces the whole one.',
        params,
        body: changeScheduleSchema,
        response: { 200: scheduleSchema, ...bodyProblems(404) },
      },
    },
    async (request) => {
      const ref = refOf(request);
      const { orgId, scheduleId } = ref;
      const change = request.body;
      const before = await deps.db.org(orgId, (tx) => found(tx, scheduleId));
      const spec = changedSpec(before.spec, change);
      const owner = { orgId, keyId: before.keyId };
      const warnings = await checkSchedule(deps, owner, { id: scheduleId, name: before.name, spec });
      await deps.db.org(orgId, async (tx) => {
        const now = await lockSchedule(tx, scheduleId);
        if (!now) throw unknown(scheduleId);
        await updateSchedule(tx, scheduleId, {
          spec: changedSpec(now.spec, change),
          paused: change.paused ?? now.paused,
        });
      });
      await syncInTime(deps, ref);
      return { ...(await readView(deps, ref)), ...(warnings.length > 0 && { warnings }) };
    },
  );

  app.delete(
    path,
    {
      schema: {
        tags,
        operationId: 'deleteSchedule',
        summary: 'Delete a schedule',
        description: 'The jobs of its runs stay, and one that is open goes on.',
        params,
        response: { 204: z.undefined().describe('Deleted.'), ...problems(404) },
      },
    },
    async (request, reply) => {
      const ref = refOf(request);
      if (!(await deps.db.org(ref.orgId, (tx) => deleteSchedule(tx, ref.scheduleId)))) throw unknown(ref.scheduleId);
      await syncInTime(deps, ref);
      return reply.code(204).send();
    },
  );
}

function registerRun(app: App, deps: HttpDeps): void {
  app.post(
    `${path}/run`,
    {
      schema: {
        tags,
        operationId: 'runSchedule',
        summary: 'Run a schedule now',
        description: 'Also while it is paused. Its budget and an open job of an earlier run count as at any time.',
        params,
        headers: idempotencyHeader,
        response: { 202: runSchema, ...problems(404, 409) },
      },
    },
    async (request, reply) => {
      const { orgId, scheduleId } = refOf(request);
      const run = await deps.db.org(orgId, (tx) => insertRun(tx, { scheduleId }, { at: new Date(), manual: true }));
      if (!run) throw unknown(scheduleId);
      return reply.code(202).send(runView(run));
    },
  );
}

const refOf = ({ caller: { orgId }, params: { schedule_id: scheduleId } }: ScheduleRequest): ScheduleRef => ({
  orgId,
  scheduleId,
});
type ScheduleRequest = Pick<FastifyRequest, 'caller'> & { params: z.output<typeof params> };

const unknown = (id: string) => refuse.notFound(`schedule ${id.slice(0, 100)}`);

async function found(tx: Tx, id: string): Promise<ScheduleRow> {
  const row = await readSchedule(tx, id);
  if (!row) throw unknown(id);
  return row;
}

function tooMany(name: string): ApiError {
  const detail = `${name} has ${mostOfName} schedules, the most that a name may have. Delete or change one.`;
  return new ApiError(409, 'too_many_schedules', detail);
}

async function readView(deps: HttpDeps, { orgId, scheduleId }: ScheduleRef) {
  const { row, runs } = await deps.db.org(orgId, async (tx) => ({
    row: await found(tx, scheduleId),
    runs: await listRuns(tx, scheduleId, shownRuns),
  }));
  const seen = await seeSchedules(deps, [row]);
  return scheduleView(row, seen.get(scheduleId), runs);
}

async function pageOf(
  deps: HttpDeps,
  { caller: { orgId } }: Pick<FastifyRequest, 'caller'>,
  { limit, cursor }: z.output<typeof schedulesQuerySchema>,
  name: string | null,
) {
  const after = parseTimeCursor(cursor);
  const rows = await deps.db.org(orgId, (tx) => listSchedules(tx, { name, after, limit: limit + 1 }));
  const seen = await seeSchedules(deps, rows);
  return timedPage(
    rows,
    limit,
    ({ scheduleId }) => scheduleId,
    (row) => summaryView(row, seen.get(row.scheduleId)),
  );
}

/** Tells Temporal of a change; if that takes too long the reconciler does. */
async function syncInTime({ scheduler, log, timing }: HttpDeps, schedule: ScheduleRef): Promise<void> {
  const synced = scheduler.sync(schedule).catch((err: unknown) => {
    log.warn({ err, schedule_id: schedule.scheduleId }, 'Temporal was not told of a schedule; the reconciler will');
  });
  await settleWithin(synced, timing?.startWaitMs ?? defaultTiming.startWaitMs);
}
