import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { GraphArchive } from './archive.js';

/** Answers with an archive as a download; 304 to who has these bytes already (`If-None-Match`). When it breaks off, so does the download. */
export function sendArchive(request: FastifyRequest, reply: FastifyReply, archive: GraphArchive): FastifyReply {
  const { etag, fileName } = archive;
  void reply.header('etag', etag);
  if (isKnown(request.headers['if-none-match'], etag)) return reply.code(304).send();
  void reply.type('application/zip').header('content-disposition', `attachment; filename="${fileName}"`);
  if (request.method === 'HEAD') return reply.send(Readable.from([]));
  const zip = archive.open();
  zip.once('error', (error) => request.log.error({ err: error, file: fileName }, 'an archive of a graph broke off'));
  return reply.send(zip);
}

/** The comparison is the weak one (RFC 9110, 13.1.2): something on the way may have marked the tag as weak. */
function isKnown(header: string | undefined, etag: string): boolean {
  const tags = header?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
