#!/usr/bin/env node
import { main } from './program.js';

// Without an error the process ends by itself, once its output is written.
void main(process.argv.slice(2)).then((code) => {
  if (code !== 0) process.exit(code);
});
