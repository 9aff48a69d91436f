// A lock between processes: concurrent commands must not both install or build.
import { createHash } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Runs `work` under this clone's lock of that name; takes over the lock of a dead process. */
export async function withLock(name, work) {
  const clone = createHash('sha256')
    .update(dirname(fileURLToPath(import.meta.url)))
    .digest('hex')
    .slice(0, 12);
  const file = join(tmpdir(), `ratchet-${clone}-${name}.lock`);
  for (let told = false; !take(file); told = true) {
    if (!told) console.error(`Waiting for another process with the same task (${file}) …`);
    await sleep(300);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function take(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  const pid = holder(file);
  if (pid !== undefined && !alive(pid)) removeOf(pid, file);
  return false;
}

/** Removes the lock of a dead process; another process may do the same, and take the lock. */
function removeOf(pid, file) {
  const moved = `${file}.${process.pid}`;
  try {
    renameSync(file, moved);
    // A lock that was taken meanwhile goes back.
    if (holder(moved) !== pid) linkSync(moved, file);
  } catch (error) {
    if (error.code !== 'ENOENT' && error.code !== 'EEXIST') throw error;
  } finally {
    rmSync(moved, { force: true });
  }
}

function holder(file) {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function alive(pid) {
  // 0: the file exists, but its writer has not written it yet.
  if (pid === 0) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
