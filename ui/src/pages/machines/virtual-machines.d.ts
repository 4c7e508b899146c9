declare module 'virtual:machines' {
  /** One of every kind of actor, in the order in which the service names them; made by `ui/machines-plugin.ts`. */
  export const diagrams: readonly import('../../../../runtime/cli/machines/diagram.ts').Diagram[];
}
