/** Who is calling: the client's address behind trusted proxies (SVC_TRUSTED_PROXIES, operations §1.1). */
import ipaddr from 'ipaddr.js';

type Address = ReturnType<typeof ipaddr.process>;
export type Network = readonly [Address, number];

/** Finds the client's address from the socket's and the X-Forwarded-For header. */
export type ClientAddress = (socket: string, forwardedFor: string | null) => string;

/**
 * @param trusted networks in CIDR notation whose X-Forwarded-For entries are believed
 * @throws {Error} one of them is no network
 */
export function clientAddresses(trusted: readonly string[]): ClientAddress {
  const networks = trusted.map((cidr): Network => ipaddr.parseCIDR(cidr));

  return (socket, forwardedFor) => {
    let known = parse(socket);
    if (!known) return socket;
    const hops = forwardedFor === null ? [] : forwardedFor.split(',').reverse();
    for (const hop of hops) {
      if (!inside(known, networks)) break;
      const next = parse(hop.trim());
      if (!next) break;
      known = next;
    }
    return known.toString();
  };
}

function parse(text: string): Address | null {
  return ipaddr.isValid(text) ? ipaddr.process(text) : null;
}

function inside(address: Address, networks: readonly Network[]): boolean {
  return networks.some((network) => {
    const [base] = network;
    return address.kind() === base.kind() && address.match(network as [Address, number]);
  });
}
