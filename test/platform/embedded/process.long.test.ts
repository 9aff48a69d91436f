import { afterEach, describe, expect, test } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { end, lives, processMark } from '../../../src/platform/embedded/process.js';
import { until } from '../../support/until.js';

const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function shell(script: string): ChildProcess {
  const child = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(child);
  return child;
}

const line = async (child: ChildProcess) =>
  ((await once(createInterface({ input: child.stdout! }), 'line')) as [string])[0];

describe('the identity of a process', () => {
  test('is constant during its life and unique', () => {
    expect(processMark(process.pid)).toEqual(processMark(process.pid));
    expect(processMark(process.ppid)!.startTime).not.toBe(processMark(process.pid)!.startTime);
    expect(lives(processMark(process.pid)!)).toBe(true);
    expect(lives({ pid: process.pid, startTime: 'earlier' })).toBe(false);
  });

  test('is gone after its death, even if no parent has waited for it', async () => {
    // The shell becomes a sleep, which never waits for the child that it inherits.
    const child = shell('sleep 0.1 & echo $!; exec sleep 60');
    const pid = Number(await line(child));
    await until('the process is a zombie', () => processMark(pid) === undefined, 10);
    process.kill(pid, 0);
  });
});

describe('ending a process', () => {
  test('stops at the first effective signal', async () => {
    const child = shell("trap '' TERM; echo ready; while true; do sleep 0.05; done");
    await line(child);
    await end(processMark(child.pid!)!, ['SIGTERM', 'SIGKILL'], 200);
    await until('it is reaped', () => child.signalCode, 10);
    expect(child.signalCode).toBe('SIGKILL');
  });

  test('spares another process with the same id', async () => {
    const child = shell('echo ready; exec sleep 60');
    await line(child);
    await end({ pid: child.pid!, startTime: 'earlier' }, ['SIGKILL']);
    expect(lives(processMark(child.pid!)!)).toBe(true);
  });
});
