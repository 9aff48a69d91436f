import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What an address is to the egress rule. `private` holds loopback, RFC 1918, carrier-grade NAT, unique local and the
 * unspecified address (which Linux connects to loopback). `forbidden` is what no mode may reach: link-local, metadata
 * services, multicast, reserved ranges and the tunnels that hide an IPv4 address in an IPv6 one.
 */
export type AddressClass = 'public' | 'private' | 'forbidden';

/** Metadata services of clouds that live outside link-local: AWS (IPv6), Google (IPv6), Alibaba, Azure, Oracle. */
const metadata = new Set(['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192']);
const privateRanges = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal', 'unspecified']);
/** RFC 4291 §2.5.5.1, deprecated: an IPv4 address in the low 32 bits. ipaddr.js takes it for ordinary unicast. */
const ipv4Compatible = ipaddr.IPv6.parseCIDR('::/96');

/** Classifies an IP address in any textual form; an IPv4-mapped IPv6 address counts as the IPv4 address that it is. */
export function classifyAddress(address: string): AddressClass {
  const parsed = ipaddr.process(address);
  if (metadata.has(parsed.toString())) return 'forbidden';
  const range = parsed.range();
  if (privateRanges.has(range)) return 'private';
  if (parsed instanceof ipaddr.IPv6 && parsed.match(ipv4Compatible)) return 'forbidden';
  return range === 'unicast' ? 'public' : 'forbidden';
}

/** A URL's hostname as an IP address, or null when it is a name. Brackets of IPv6 are taken off. */
export function hostAddress(hostname: string): string | null {
  const bare = hostname.startsWith('[') && hostname.endsWith(']') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) ? bare : null;
}
