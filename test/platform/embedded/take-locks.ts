/** Helper of lock.long.test.ts: waits, tries the locks in turn, reports and holds them. */
import { tryLock } from '../../../src/platform/embedded/lock.js';

const [at, ...files] = process.argv.slice(2);
while (Date.now() < Number(at));
console.log(files.filter((file) => 'release' in tryLock(file)).length);
setInterval(() => undefined, 1000);
