/** `npm run docs`: writes the generated parts of the pages. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedPages } from './generate/index.js';
import { root } from './pages.js';

for (const { page, text } of generatedPages()) writeFileSync(join(root, page), text);
