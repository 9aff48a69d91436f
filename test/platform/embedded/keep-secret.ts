/** Helper of kept.test.ts: keeps a secret of 8 characters in a data directory. */
import { keepSecret } from '../../../src/platform/embedded/kept.js';
import { secret } from './secret.js';

try {
  console.log(JSON.stringify(keepSecret(process.argv[2]!, secret)));
} catch (error) {
  console.log(JSON.stringify({ error: (error as Error).message, name: (error as Error).name }));
}
