/**
 * For lock.long.test.ts: waits until the given moment, tries the locks in turn, says how many it
 * got, and holds on to them.
 */
import { tryLock } from '../../src/embedded/lock.js';

const [at, ...files] = process.argv.slice(2);
while (Date.now() < Number(at));
console.log(files.filter((file) => 'release' in tryLock(file)).length);
setInterval(() => undefined, 1000);
