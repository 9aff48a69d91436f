import { afterEach, beforeAll } from '@jest/globals';
import type { WorkflowHandle } from '@temporalio/client';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { evaluations, pathOf } from '../../support/jobs-over-http.js';
import { Operator } from '../../support/operator.js';
import { range } from '../../support/range.js';
import type { TestService } from '../../support/service.js';
import { serviceOfFile } from '../../support/service-of-file.js';
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
  /** See `OperatorWorld.agreed`. */
  shows(status: string): Promise<string>;
}

export interface OperatorWorld {
  service: TestService;
  world: RulesWorld;
  operator: Operator;
  /** Starts an evaluation whose rollouts are held; two are in flight. */
  evaluation(seeds?: number): Promise<HeldEvaluation>;
  statusOf(id: string): Promise<string>;
  /**
   * Waits until API, query and search attribute show one status, with no failing workflow task;
   * returns it. `due`: the status; null: any. `seconds`: as for `until`.
   */
  agreed(id: string, due: string | null, seconds?: number): Promise<string>;
  errorOf(id: string): Promise<string | null>;
  /** Data of the job's events of this type. */
  eventsOf(id: string, type: string): Promise<Record<string, unknown>[]>;
}

/** A service with an operator for all tests of a file; its world is reset after each test. */
export function operatorWorldOfFile(): OperatorWorld {
  const on = serviceOfFile(startRulesWorld);
  const it = {} as OperatorWorld;
  beforeAll(() => void Object.assign(it, operatorWorld(on)));
  afterEach(() => on.world.reset());
  return it;
}

function operatorWorld({ service, world }: Pick<OperatorWorld, 'service' | 'world'>): OperatorWorld {
  const operator = new Operator(service.temporal);
  const look = (id: string) =>
    service.api.call<{ status: string; error_details: { code: string } | null }>('GET', pathOf(id));
  const statusOf = async (id: string) => (await look(id)).status;
  const agreed: OperatorWorld['agreed'] = (id, due, seconds) =>
    until(
      `${id} shows ${due ?? 'one status'} in API and Temporal`,
      async () => {
        const view = await operator.view(service.workflow(id));
        const [api, { query, attribute, taskAttempt }] = [await statusOf(id), view];
        const isAgreed = taskAttempt <= 1 && api === query && api === attribute && (due === null || api === due);
        if (isAgreed) return api;
        throw new Error(JSON.stringify({ due, api, query, attribute, taskAttempt }));
      },
      seconds,
    );
  return {
    service,
    world,
    operator,
    statusOf,
    agreed,
    errorOf: async (id) => (await look(id)).error_details?.code ?? null,
    async eventsOf(id, type) {
      const { events } = await service.api.call<{ events: { type: string; data: Record<string, unknown> }[] }>(
        'GET',
        `${pathOf(id)}/events?since_seq=0&limit=1000`,
      );
      return events.filter((event) => event.type === type).map(({ data }) => data);
    },
    evaluation: (seeds = 4) => startEvaluation({ service, world, agreed }, seeds),
  };
}

async function startEvaluation(
  { service, world, agreed }: Pick<OperatorWorld, 'service' | 'world' | 'agreed'>,
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
    shows: (status) => agreed(id, status),
  };
}
