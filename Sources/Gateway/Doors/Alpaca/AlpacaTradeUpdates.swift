/// Alpaca's stream of what becomes of orders, at `/stream`: alpaca-py's `TradingStream`. Text comes
/// from the client and binary frames go to it, each with one JSON object. It is about the account
/// that `/v2` trades, the user's main one; a client that was away asks for its orders again, as the
/// API has no cursor.

import AppStore
import Foundation
import NIOCore
import NIOHTTP1
import PaperTrading

final class AlpacaTradeUpdates: StreamTranslator {
  let door = AlpacaDoor.door
  let isBinary = false
  private let market: @Sendable () -> MarketState
  private static let stream = "trade_updates"

  /// nil: the request does not open this stream.
  init?(for head: HTTPRequestHead, market: @escaping @Sendable () -> MarketState) {
    guard head.offersWebSocket, ["/stream", "/stream/"].contains(head.path) else { return nil }
    self.market = market
  }

  func resolve(_ symbol: String) -> SeriesPlace? { nil }

  // MARK: From the client

  private struct Request: Decodable {
    struct Fields: Decodable {
      var secretKey: String?
      var streams: [String]?

      enum CodingKeys: String, CodingKey {
        case streams
        case secretKey = "secret_key"
      }
    }

    let action: String
    var secret: String?
    var data: Fields?
  }

  func read(_ message: [UInt8]) -> ClientMessage {
    guard let request = try? JSONDecoder().decode(Request.self, from: Data(message)) else {
      return .malformed(id: nil)
    }
    switch (request.action, request.secret ?? request.data?.secretKey, request.data?.streams) {
    case ("authenticate", let secret?, _), ("auth", let secret?, _):
      return .authenticate(token: secret, id: nil)
    case ("listen", _, let streams?):
      let channels = ChannelsRequest(channels: [ChannelRequest(name: UserChannel.orders.rawValue)])
      return streams.contains(Self.stream) ? .subscribe(channels) : .unsubscribe(channels)
    case ("authenticate", _, _), ("auth", _, _), ("listen", _, _): return .malformed(id: nil)
    case (let action, _, _): return .unknown(action: action, id: nil)
    }
  }

  // MARK: To the client

  func write(_ output: FollowerOutput, to buffer: inout ByteBuffer) {
    switch output {
    case .authenticated:
      answer("authorization", ["action": "authenticate", "status": "authorized"], to: &buffer)
    case .subscribed: listening([Self.stream], to: &buffer)
    case .unsubscribed: listening([], to: &buffer)
    case .failed(_, .authenticationRequired):
      answer("authorization", ["action": "listen", "status": "unauthorized"], to: &buffer)
    case .failed(_, let error): listening([], error: error.title, to: &buffer)
    case .updates(.orders, _, _, let items):
      let state = market()
      for item in items { write(item, in: state, to: &buffer) }
    case .close(let reason):
      if [.forbidden, .authenticationTimeout].contains(reason) {
        answer(
          "authorization", ["action": "authenticate", "status": "unauthorized"], to: &buffer)
      }
      OutputEncoder.writeClose(reason, to: &buffer)
    case .welcome, .pong, .resync, .snapshot, .prices, .log, .updates, .portfolios, .slow,
      .heartbeat:
      break
    }
  }

  private func answer(
    _ stream: String, _ fields: KeyValuePairs<StaticString, String>, to buffer: inout ByteBuffer
  ) {
    frame(stream, to: &buffer) { data in
      for (name, value) in fields { data.member(name) { $0.string(value) } }
    }
  }

  private func listening(
    _ streams: [String], error: String? = nil, to buffer: inout ByteBuffer
  ) {
    frame("listening", to: &buffer) { data in
      data.member("streams") { $0.strings(streams) }
      if let error { data.member("error") { $0.string(error) } }
    }
  }

  private func frame(
    _ stream: String, to buffer: inout ByteBuffer, data: (inout JSONWriter) -> Void
  ) {
    let bytes = JSONWriter.encode { message in
      message.member("stream") { $0.string(stream) }
      message.object("data", body: data)
    }
    OutputEncoder.writeHeader(length: bytes.count, isBinary: true, to: &buffer)
    buffer.writeBytes(bytes)
  }

  private func write(_ item: OutboxItem, in state: MarketState, to buffer: inout ByteBuffer) {
    switch item.content {
    case .order(let update, let execution) where update.isOfMainAccount:
      guard let event = update.alpacaEvent else { return }
      frame(Self.stream, to: &buffer) { data in
        let zone = ListedStock(update.order.order.symbol, in: state).zone
        data.member("event") { $0.string(event) }
        data.member("execution_id") { $0.string(AlpacaID.event.text(execution, in: state.epochs)) }
        data.member("timestamp") { $0.moment(update.at, in: zone) }
        if let fill = update.fill {
          data.member("price") { $0.decimal(fill.price) }
          data.member("qty") { $0.decimal(fill.quantity) }
          data.member("position_qty") { $0.decimal(fill.held) }
        }
        data.object("order") { $0.write(alpaca: update.order, in: state) }
      }
    case .refusal(let refused) where refused.isOfMainAccount:
      frame(Self.stream, to: &buffer) { data in
        let record = refused.record
        let zone = ListedStock(record.order.symbol, in: state).zone
        data.member("event") { $0.string("rejected") }
        data.member("timestamp") { $0.moment(record.updatedAt, in: zone) }
        data.object("order") { $0.write(alpaca: record, refused: refused, in: state) }
      }
    case .order, .refusal, .notification, .nothing: break
    }
  }
}

extension OrderUpdate {
  /// By the kinds of events, Alpaca's; of one that is not here its clients have no notion.
  private static let events: [String: String] = [
    "accepted": "new", "released": "new", "cancelled": "canceled", "expired": "expired",
    "replaced": "replaced", "pending_cancel": "pending_cancel", "reversed": "trade_bust",
  ]

  fileprivate var alpacaEvent: String? {
    guard kind == "fill" else { return Self.events[kind] }
    return fill?.filledSoFar == order.order.quantity ? "fill" : "partial_fill"
  }
}
