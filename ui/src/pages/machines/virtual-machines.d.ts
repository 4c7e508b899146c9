declare module 'virtual:machines' {
  /** One of every kind of actor, in the order in which the service names them; made by `ui/machines-plugin.ts`. */
  export const diagrams: readonly import('../../../../scripts/machines/diagram.ts').Diagram[];
}

declare module 'virtual:machine-rows' {
  /** What the contract's tables say of transitions, which name their place here; made by `ui/machines-plugin.ts`. */
  export const rows: readonly import('../../../../scripts/machines/diagram.ts').ContractRow[];
}
