import type { WorkflowHandle } from '@temporalio/client';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { evaluations, pathOf } from '../../support/jobs-over-http.js';
import { Operator } from '../../support/operator.js';
import { range } from '../../support/range.js';
import { startTestService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';
import { startRulesWorld, type RulesWorld } from '../../support/worlds/rules.js';

/** An evaluation in the hands of an operator. */
export interface HeldEvaluation {
  id: string;
  handle: WorkflowHandle;
  /** Lets its container answer. */
  open(): void;
  /** Rollout ids by call of its container. */
  calls(): string[];
  /** Sends a command by HTTP. */
  command(name: 'pause' | 'resume' | 'cancel'): Promise<unknown>;
  /** Waits until API, query and search attribute show the status, with no failing workflow task. */
  shows(status: string): Promise<void>;
}

export interface OperatorWorld {
  service: TestService;
  world: RulesWorld;
  operator: Operator;
  /** Starts an evaluation whose rollouts are held; two are in flight. */
  evaluation(seeds?: number): Promise<HeldEvaluation>;
  statusOf(id: string): Promise<string>;
  errorOf(id: string): Promise<string | null>;
  /** Data of the job's events of this type. */
  eventsOf(id: string, type: string): Promise<Record<string, unknown>[]>;
  stop(): Promise<void>;
}

export async function startOperatorWorld(): Promise<OperatorWorld> {
  const world = await startRulesWorld();
  const service = await startTestService(world.env);
  const operator = new Operator(service.temporal);
  const look = (id: string) =>
    service.api.call<{ status: string; error_details: { code: string } | null }>('GET', pathOf(id));
  const statusOf = async (id: string) => (await look(id)).status;
  return {
    service,
    world,
    operator,
    statusOf,
    errorOf: async (id) => (await look(id)).error_details?.code ?? null,
    async eventsOf(id, type) {
      const { events } = await service.api.call<{ events: { type: string; data: Record<string, unknown> }[] }>(
        'GET',
        `${pathOf(id)}/events?since_seq=0&limit=1000`,
      );
      return events.filter((event) => event.type === type).map(({ data }) => data);
    },
    evaluation: (seeds = 4) => startEvaluation({ service, world, operator, statusOf }, seeds),
    async stop() {
      await service.stop();
      await world.close();
    },
  };
}

async function startEvaluation(
  { service, world, operator, statusOf }: Pick<OperatorWorld, 'service' | 'world' | 'operator' | 'statusOf'>,
  seeds: number,
): Promise<HeldEvaluation> {
  const { opened, open } = gate();
  world.container.behave(() => async (call, response) => {
    await opened;
    await answers.reward(1)(call, response);
  });
  const { job_id: id } = await service.api.call<{ job_id: string }>('POST', evaluations, {
    ...world.job,
    app_id: 'a',
    env_name: 'e',
    seeds: range(0, seeds),
    max_concurrent: 2,
  });
  const handle = service.workflow(id);
  const calls = () => world.container.callsOf(id).map(({ rolloutId }) => rolloutId);
  await until('rollouts are in flight', () => calls().length >= Math.min(seeds, 2));
  return {
    id,
    handle,
    open,
    calls,
    command: (name) => service.api.call('POST', `${pathOf(id)}/${name}`),
    async shows(status) {
      await until(`${id} is ${status} in API and Temporal`, async () => {
        const [api, { query, attribute, taskAttempt }] = [await statusOf(id), await operator.view(handle)];
        if (taskAttempt <= 1 && [api, query, attribute].every((seen) => seen === status)) return true;
        throw new Error(JSON.stringify({ api, query, attribute, taskAttempt }));
      });
    },
  };
}
