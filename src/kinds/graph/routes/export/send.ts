import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphArchive } from './archive.js';

/** Sends an archive, or 304 if `If-None-Match` matches. An error aborts the download. */
export function sendArchive(request: FastifyRequest, reply: FastifyReply, archive: GraphArchive): FastifyReply {
  const { etag, fileName } = archive;
  void reply.header('etag', etag);
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  void reply.type('application/zip').header('content-disposition', `attachment; filename="${fileName}"`);
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const zip = archive.open();
  zip.once('error', (error) => request.log.error({ err: error, file: fileName }, 'streaming a graph archive failed'));
  return reply.send(zip);
}

/** Weak comparison (RFC 9110, 13.1.2): a proxy may have marked the tag as weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
