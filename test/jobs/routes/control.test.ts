import { beforeEach, describe, expect, test } from '@jest/globals';
import { statuses, transition, type Status } from '../../../src/core/jobs/status.js';
import { TemporalUnavailableError, WorkflowGoneError } from '../../../src/platform/temporal/errors.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  finish,
  httpOfFile,
  startHttp,
  type TestHttp,
} from '../../platform/http/support.js';

const http = httpOfFile();
beforeEach(() => {
  http.commander.onSend = (job, kind, commandId) => http.commander.decide(job, kind, commandId);
});

const sessions = '/api/v1/online/sessions';
const jobs = '/api/v1/offline/jobs';
const graphs = '/api/graphgen/jobs';

async function jobIn(status: Status, create: (http: TestHttp) => Promise<string>): Promise<string> {
  const jobId = await create(http);
  await http.db.org('default', async (tx) => {
    if (status === 'completed' || status === 'failed' || status === 'cancelled') {
      await finish(tx, { orgId: 'default', jobId }, status);
    } else {
      await tx.query('update jobs set status = $2 where id = $1', [jobId, status]);
    }
  });
  return jobId;
}

const sentTo = (jobId: string) => http.commander.sent.filter((sent) => sent.jobId === jobId);

describe('the transition table, cell by cell', () => {
  const verbs = [
    ['pause', 'paused'],
    ['resume', 'running'],
    ['cancel', 'cancelled'],
  ] as const;
  const cells = statuses.flatMap((status) => verbs.map(([verb, state]) => ({ status, verb, state })));

  // A graph job can be in all six statuses.
  test.each(cells)('$verb of a graph job that is $status, by POST and by PATCH', async ({ status, verb, state }) => {
    const expected = transition(status, verb);
    for (const how of ['POST', 'PATCH'] as const) {
      const jobId = await jobIn(status, createGraphJob);
      const { status: code, body } =
        how === 'POST'
          ? await http.call('POST', `${graphs}/${jobId}/${verb}`, {})
          : await http.call('PATCH', `${graphs}/${jobId}`, { state });
      const [row] = await http.db.org('default', (tx) => tx.query('select status from jobs where id = $1', [jobId]));
      expect(row!['status']).toBe(expected.status);
      if (expected.ok) {
        expect([code, body.status]).toEqual([200, expected.status]);
        expect(body).toMatchObject({ job_id: jobId, graph_gen_job_id: jobId });
        expect(body).not.toHaveProperty('session_id');
      } else {
        expect([code, body.code, body.current_status]).toEqual([409, 'invalid_state', status]);
      }
      // Only these have a workflow, which decides.
      expect(sentTo(jobId)).toHaveLength(['running', 'paused'].includes(status) ? 1 : 0);
    }
  });

  test.each([
    ['a session', sessions, createSession],
    ['an evaluation', jobs, createEvaluation],
  ] as const)('%s takes the same commands, by POST and by PATCH', async (_noun, base, create) => {
    const jobId = await create(http);
    const ids = { job_id: jobId, ...(base === sessions && { session_id: jobId }) };
    const post = (verb: string, body: object = {}) => http.call('POST', `${base}/${jobId}/${verb}`, body);
    const patch = (state: string) => http.call('PATCH', `${base}/${jobId}`, { state });
    expect(await post('pause')).toMatchObject({ status: 200, body: { ...ids, status: 'paused' } });
    expect(await patch('running')).toMatchObject({ status: 200, body: { ...ids, status: 'running' } });
    expect(await post('reward', { reward: 0.5 })).toMatchObject({ status: 200, body: { counted: true } });
    expect(await patch('cancelled')).toMatchObject({ status: 200, body: { ...ids, status: 'cancelled' } });
    for (const refused of [await post('resume'), await patch('paused'), await post('reward', { reward: 1 })])
      expect(refused).toMatchObject({ status: 409, body: { code: 'invalid_state', current_status: 'cancelled' } });
    expect(sentTo(jobId).map(({ kind }) => kind)).toEqual(['pause', 'resume', 'cancel']);
  });

  test.each(statuses)('a reward to a graph job that is %s, without stop and with', async (status) => {
    for (const stop of [false, true]) {
      const jobId = await jobIn(status, createGraphJob);
      const answer = await http.call('POST', `${graphs}/${jobId}/reward`, { reward: 0.5, stop });
      const expected = transition(status, stop ? 'reward_stop' : 'reward');
      expect(answer.status).toBe(expected.ok ? 200 : 409);
      if (expected.ok) expect(answer.body).toMatchObject({ status: expected.status, counted: true });
      else expect(answer.body.current_status).toBe(status);
      const [kept] = await http.db.org('default', (tx) =>
        tx.query('select counted from rewards where job_id = $1', [jobId]),
      );
      expect(kept?.['counted'] ?? false).toBe(expected.ok);
    }
  });

  test.each(statuses)('a start of a graph job that is %s', async (status) => {
    const jobId = await jobIn(status, (on) => createGraphJob(on, { auto_start: false }));
    const { status: code, body } = await http.call('POST', `${graphs}/${jobId}/start`, {});
    if (['completed', 'failed', 'cancelled'].includes(status)) {
      expect([code, body.code, body.current_status]).toEqual([409, 'invalid_state', status]);
    } else {
      const after = status === 'pending' ? 'running' : status;
      expect([code, body]).toEqual([200, { job_id: jobId, graph_gen_job_id: jobId, status: after }]);
    }
    expect(http.commander.started.filter((id) => id === jobId)).toHaveLength(status === 'pending' ? 1 : 0);
  });

  test('starts a graph job once for twenty concurrent starts', async () => {
    const jobId = await createGraphJob(http, { auto_start: false });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => http.call('POST', `${graphs}/${jobId}/start`, {})),
    );
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.status}`))).toEqual(new Set(['200 running']));
    expect(http.commander.started.filter((id) => id === jobId)).toHaveLength(1);
  });

  test('serializes a concurrent start and cancel, with the same result in both answers', async () => {
    for (let round = 0; round < 10; round += 1) {
      const jobId = await createGraphJob(http, { auto_start: false });
      const [start, cancel] = await Promise.all([
        http.call('POST', `${graphs}/${jobId}/start`, {}),
        http.call('POST', `${graphs}/${jobId}/cancel`, {}),
      ]);
      expect([cancel.status, cancel.body.status]).toEqual([200, 'cancelled']);
      const startedFirst = start.status === 200;
      if (!startedFirst) expect([start.status, start.body.current_status]).toEqual([409, 'cancelled']);
      // HTTP closes a job without a workflow; otherwise its workflow decides.
      expect(sentTo(jobId)).toHaveLength(startedFirst ? 1 : 0);
      expect((await http.call('GET', `${graphs}/${jobId}`)).body.status).toBe('cancelled');
    }
  });
});

describe('ways to send a command', () => {
  test('treats no body, an empty body and an empty object alike', async () => {
    for (const body of [undefined, '', '{}', 'null']) {
      const jobId = await createSession(http);
      const answer = await http.call('POST', `${sessions}/${jobId}/pause`, body);
      expect([answer.status, answer.body.status]).toEqual([200, 'paused']);
    }
  });

  test('PATCH below offline/jobs accepts a session, too; POST and GET do not', async () => {
    const jobId = await createSession(http);
    const answer = await http.call('PATCH', `${jobs}/${jobId}`, { state: 'paused' });
    expect(answer.body).toMatchObject({ session_id: jobId, job_id: jobId, status: 'paused' });
    expect((await http.call('POST', `${jobs}/${jobId}/resume`)).status).toBe(404);
    expect((await http.call('GET', `${jobs}/${jobId}`)).status).toBe(404);
    expect((await http.call('GET', `${sessions}/${await createEvaluation(http)}`)).status).toBe(404);
  });

  test.each<[string, string]>([
    ['without a reason', '{"reason":null,"state":"cancelled"}'],
    ['with one', '{"reason":"too slow","state":"cancelled"}'],
  ])('accepts the cancel of the existing client, %s', async (_name, recorded) => {
    const jobId = await createEvaluation(http);
    const answer = await http.call('PATCH', `${jobs}/${jobId}`, recorded);
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled']);
  });

  test('accepts a reason in POST, too, up to 2,000 characters', async () => {
    for (const [reason, status] of [
      [null, 200],
      ['x'.repeat(2_000), 200],
      ['x'.repeat(2_001), 422],
      [5, 422],
    ] as const) {
      const answer = await http.call('POST', `${sessions}/${await createSession(http)}/cancel`, { reason });
      expect([reason, answer.status]).toEqual([reason, status]);
      if (status === 422) expect(answer.body.errors[0].pointer).toBe('/reason');
    }
  });

  test.each([{ state: 'completed' }, { state: 'PAUSED' }, {}, { state: 'paused', more: 1 }, []])(
    'PATCH %j is 422',
    async (body) => {
      const answer = await http.call('PATCH', `${sessions}/${await createSession(http)}`, body);
      expect(answer.status).toBe(422);
    },
  );

  test.each([
    ['POST', '/pause', '[]'],
    ['PATCH', '', undefined],
    ['POST', '/reward', undefined],
  ] as const)('%s %s with the body %s is 422', async (method, path, body) => {
    const answer = await http.call(method, `${sessions}/${await createSession(http)}${path}`, body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_failed']);
  });

  test('refuses unknown fields of pause with 422', async () => {
    const answer = await http.call('POST', `${sessions}/${await createSession(http)}/pause`, { force: true });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/force']);
  });
});

describe('slow decisions', () => {
  test('answers 202 with the pending command without a worker, and applies it later', async () => {
    const jobId = await createSession(http);
    http.commander.onSend = async () => {};
    const { status, body } = await http.call('POST', `${sessions}/${jobId}/pause`);
    expect([status, body]).toEqual([
      202,
      {
        session_id: jobId,
        job_id: jobId,
        status: 'running',
        pending_command: 'pause',
        command_id: expect.stringMatching(/^cmd_/),
      },
    ]);
    await http.commander.decide({ orgId: 'default', jobId, kind: 'session', workflowId: '' }, 'pause', body.command_id);
    expect((await http.call('GET', `${sessions}/${jobId}`)).body.status).toBe('paused');
  });

  test('learns the outcome by notification, well before the next poll', async () => {
    const patient = await startHttp({ timing: { commandWaitMs: 20_000, startWaitMs: 200, pollMs: 20_000 } });
    const jobId = await createSession(patient);
    let decided: Promise<void> = Promise.resolve();
    patient.commander.onSend = async (job, kind, commandId) => {
      decided = (async () => {
        // After the first poll without a result.
        await new Promise((resolve) => setTimeout(resolve, 200));
        await patient.commander.decide(job, kind, commandId);
      })();
    };
    const answer = await patient.call('POST', `${sessions}/${jobId}/pause`);
    await decided;
    expect([answer.status, answer.body.status]).toEqual([200, 'paused']);
    await patient.close();
  }, 15_000);

  test('refuses a cancel of a job that completes meanwhile, with its status', async () => {
    const jobId = await createSession(http);
    http.commander.onSend = (job) => http.db.org('default', (tx) => finish(tx, job, 'completed'));
    const answer = await http.call('POST', `${sessions}/${jobId}/cancel`);
    expect([answer.status, answer.body.current_status]).toEqual([409, 'completed']);
  });

  test('decides by the table when a job closed before the command arrived', async () => {
    const jobId = await createSession(http);
    http.commander.onSend = async (job) => {
      await http.db.org('default', async (tx) => {
        await finish(tx, job, 'cancelled');
        // As if the command had been written after the end.
        await tx.query('update commands set outcome = null where job_id = $1', [jobId]);
      });
      throw new WorkflowGoneError('gone');
    };
    const answer = await http.call('POST', `${sessions}/${jobId}/cancel`);
    expect([answer.status, answer.body.status]).toEqual([200, 'cancelled']);
  });

  test.each([
    [new TemporalUnavailableError('away'), 'temporal_unavailable'],
    [new WorkflowGoneError('terminated'), 'workflow_gone'],
  ])('%s is 503 with retry-after', async (error, code) => {
    const jobId = await createSession(http);
    http.commander.onSend = () => Promise.reject(error);
    const answer = await http.call('POST', `${sessions}/${jobId}/pause`);
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, code, '2']);
  });

  test('a job whose workflow cannot be started is 503, too', async () => {
    const jobId = await createSession(http);
    await http.db.org('default', (tx) => tx.query('update jobs set workflow_started = false where id = $1', [jobId]));
    http.commander.onStart = () => Promise.reject(new TemporalUnavailableError('away'));
    const answer = await http.call('POST', `${sessions}/${jobId}/pause`);
    http.commander.onStart = async () => {};
    expect([answer.status, answer.body.code]).toEqual([503, 'temporal_unavailable']);
  });

  test('starts a workflow first if it is not started yet', async () => {
    const jobId = await createSession(http);
    await http.db.org('default', (tx) => tx.query('update jobs set workflow_started = false where id = $1', [jobId]));
    http.commander.started = [];
    const answer = await http.call('POST', `${sessions}/${jobId}/cancel`);
    expect([answer.status, http.commander.started]).toEqual([200, [jobId]]);
  });
});
