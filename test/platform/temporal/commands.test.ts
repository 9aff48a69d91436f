import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { createCommander, type Commander } from '../../../src/platform/temporal/commands.js';
import { TemporalUnavailableError, WorkflowGoneError } from '../../../src/platform/temporal/errors.js';
import { temporalAddress } from '../../support/environment.js';

// No worker runs: these tests read the workflow's history.
let connection: Connection;
let client: Client;
let commander: Commander;
beforeAll(async () => {
  connection = await Connection.connect({ address: temporalAddress() });
  client = new Client({ connection });
  commander = createCommander(client, async () => {});
});
afterAll(() => connection.close());

async function started() {
  const jobId = `ses_${randomUUID().replaceAll('-', '')}`;
  const workflowId = `session-${jobId}`;
  await client.workflow.start('sessionWorkflow', { workflowId, taskQueue: `nobody-${jobId}`, args: [] });
  return { orgId: 'default', jobId, kind: 'session' as const, workflowId };
}

async function history(workflowId: string) {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap<unknown>((event) => {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal) {
      const payload = signal.input?.payloads?.[0]?.data;
      return [[signal.signalName, payload ? JSON.parse(Buffer.from(payload).toString()) : null]];
    }
    return event.workflowExecutionCancelRequestedEventAttributes ? ['cancel requested'] : [];
  });
}

describe('a command', () => {
  test.each([
    ['pause', [['pause', { commandId: 'cmd_1' }]]],
    ['resume', [['resume', { commandId: 'cmd_1' }]]],
    ['stop', [['reward', { commandId: 'cmd_1', stop: true }]]],
    ['cancel', [['cancel', { commandId: 'cmd_1' }], 'cancel requested']],
  ] as const)('%s arrives as a signal with its id', async (kind, expected) => {
    const job = await started();
    await commander.send(job, kind, 'cmd_1');
    expect(await history(job.workflowId)).toEqual(expected);
    await client.workflow.getHandle(job.workflowId).terminate();
  });

  test('reports a terminated or unknown workflow as gone', async () => {
    const job = await started();
    await client.workflow.getHandle(job.workflowId).terminate();
    await expect(commander.send(job, 'pause', 'cmd_1')).rejects.toThrow(WorkflowGoneError);
    await expect(commander.send({ ...job, workflowId: 'session-none' }, 'cancel', 'cmd_1')).rejects.toThrow(
      WorkflowGoneError,
    );
  });
});

describe('when Temporal is unreachable', () => {
  let forwarder: Server;
  const sockets = new Set<Socket>();

  test('a command and a start fail as unavailable instead of hanging', async () => {
    const [host, port] = temporalAddress().split(':');
    forwarder = createServer((inbound) => {
      const outbound = connect(Number(port), host!);
      for (const socket of [inbound, outbound]) {
        sockets.add(socket);
        socket.on('error', () => socket.destroy());
      }
      inbound.pipe(outbound).pipe(inbound);
    }).listen(0, '127.0.0.1');
    await once(forwarder, 'listening');
    const far = await Connection.connect({ address: `127.0.0.1:${(forwarder.address() as AddressInfo).port}` });
    const farClient = new Client({ connection: far });
    const farCommander = createCommander(farClient, async ({ workflowId }) => {
      await farClient.workflow.start('sessionWorkflow', { workflowId, taskQueue: 'nobody', args: [] });
    });
    const job = await started();
    await farCommander.send(job, 'pause', 'cmd_1');
    forwarder.close();
    for (const socket of sockets) socket.destroy();
    await expect(farCommander.send(job, 'pause', 'cmd_2')).rejects.toThrow(TemporalUnavailableError);
    await expect(farCommander.start({ ...job, workflowId: 'session-new' })).rejects.toThrow(TemporalUnavailableError);
    expect(await history(job.workflowId)).toHaveLength(1);
    await client.workflow.getHandle(job.workflowId).terminate();
    await far.close();
  }, 20_000);
});
