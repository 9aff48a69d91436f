/** For lock.test.ts: waits until the given moment, tries the lock, says whether it got it, and holds on. */
import { writeFileSync } from 'node:fs';
import { tryLock } from '../../src/embedded/lock.js';

const [file, at] = process.argv.slice(2);
while (Date.now() < Number(at));
const lock = tryLock(file!);
writeFileSync(1, `${JSON.stringify({ got: 'release' in lock ? 1 : 0 })}\n`);
setInterval(() => undefined, 1000);
