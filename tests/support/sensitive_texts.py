"""Labelled texts: what is sensitive in them, and what only looks so.

All numbers are made up or test numbers. In a positive, the sensitive part stands between ⟦ and ⟧, and the
word before the bar is its type. Line ends and characters that nobody sees are written out.
"""

from __future__ import annotations

POSITIVE = r"""
card | My card is ⟦4111 1111 1111 1111⟧, expires 12/27.
card | Pay with ⟦4111111111111111⟧ please
card | Mastercard ⟦5555-5555-5555-4444⟧ on file
card | Amex: ⟦3782 822463 10005⟧
card | the Amex ending 0005 is ⟦378282246310005⟧.
card | Old Visa number ⟦4222222222222⟧ no longer works.
card | Discover ⟦6011111111111117⟧
card | Diners ⟦3056 930902 5904⟧ was declined
card | JCB ⟦3530111333300000⟧ for the Tokyo trip
card | 我的银行卡号是⟦6222 0200 0000 0000 018⟧
card | 卡号⟦6250947000000014⟧，不要告诉别人
card | 信用卡：⟦４１１１　１１１１　１１１１　１１１１⟧
card | 请用⟦4111-1111-1111-1111⟧支付尾款。
card | Zero width: ⟦4111\u200b1111\u200b1111\u200b1111⟧.
card | Mathematical: ⟦𝟒𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏𝟏⟧
password | My password is ⟦hunter2⟧.
password | The wifi password is "⟦correct horse⟧", case matters.
password | password: ⟦Tr0ub4dor&3⟧
password | The password for the staging server is ⟦blue-Kite.77⟧
password | passwd=⟦s3cr3t!pw⟧
password | DB_PASSWORD=⟦pG9xkq!2⟧
password | {"user": "mira", "password": "⟦z8Kd-44q⟧"}
password | I changed the password to ⟦Winter2026!⟧ yesterday.
password | Her email password is ⟦swordfish⟧.
password | Login pwd: ⟦qwerty123⟧
password | Use passcode ⟦Ab3-99z⟧ for the room.
password | My passphrase is ⟦correct horse battery staple⟧.
password | The alarm code is ⟦48213⟧.
password | garage door code ⟦4471⟧
password | My PIN is ⟦8812⟧ for the locker.
password | postgres://mira:⟦opensesame99⟧@db.example.com/app
password | 我的密码是⟦abc12345⟧
password | 密码：⟦P@ssw0rd⟧
password | WiFi密码为⟦88886666⟧，别外传。
password | 邮箱密码改成了⟦Sunny#2026⟧
password | 门锁密码 ⟦482913⟧
password | 保险柜口令是“⟦芝麻开门⟧”
password | 登录密码是⟦ｈｕｎｔｅｒ２⟧，记一下
password | 网盘提取码：⟦x7k2⟧
password | 路由器的密码已经改为⟦tea-Pot_9⟧。
password | root 口令：⟦toor1234⟧
key | The key is ⟦sk-proj-abcdEFGH1234ijklMNOP5678qrst⟧
key | export GITHUB_TOKEN=⟦ghp_16C7e42F292c6912E7710c838347Ae178B4a⟧
key | AWS id ⟦AKIAIOSFODNN7EXAMPLE⟧ is in the vault
key | Slack bot ⟦xoxb-123456789012-abcdefABCDEF⟧
key | Maps key ⟦AIzaSyA1234567890abcdefghijklmnopqrstuv⟧
key | 部署用的令牌在这里 ⟦glpat-abcDEF1234567890ghij⟧
key | Authorization: ⟦Bearer abcdef1234567890abcdef⟧
key | jwt ⟦eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTYifQ.abcDEF123456789⟧
key | Stripe ⟦sk_live_4eC39HqLyjWDarjtT1zdp7dc⟧
key | Hugging Face ⟦hf_abcdefghijklmnopqrstuvwxyz012345⟧
password | api_key = ⟦9f8e7d6c5b4a39281706⟧
password | client secret: ⟦Zx81-kjh2-99ab⟧
password | The access token is ⟦tok2f9a8b7c⟧
password | 接口密钥：⟦a1b2c3d4e5f60718⟧
private key | ⟦-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34\n-----END RSA PRIVATE KEY-----⟧ for ssh
private key | ⟦-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk⟧
one-time code | Your verification code is ⟦482913⟧.
one-time code | Your code is ⟦123456⟧. Do not share it.
one-time code | ⟦123456⟧ is your Google verification code
one-time code | ⟦G-482913⟧ is your Google verification code
one-time code | OTP: ⟦904421⟧
one-time code | Use ⟦55210⟧ to verify your account
one-time code | Your Amazon code is ⟦771 204⟧ and expires in 10 minutes.
one-time code | The one-time password for login is ⟦84213377⟧
one-time code | 2FA code ⟦A7K2P9⟧
one-time code | 验证码 ⟦123456⟧
one-time code | 【云仓】您的验证码是⟦480021⟧，5分钟内有效。
one-time code | 验证码：⟦８８１２３４⟧，请勿泄露
one-time code | ⟦665201⟧（登录验证码），请勿转发
one-time code | ⟦332918⟧是您的登录验证码，有效期10分钟
one-time code | 动态密码为⟦77120045⟧
one-time code | 短信校验码 ⟦4821⟧
phone | 我的手机号是⟦13812345678⟧
phone | 打⟦138 1234 5678⟧找老王
phone | 联系电话：⟦+86 139-1234-5678⟧（工作日）
phone | Call Wei at ⟦+8615912345678⟧ after six.
phone | Her number in Shanghai is ⟦18612345678⟧.
phone | 手机⟦１５９１２３４５６７８⟧
phone | Wang: ⟦0086 17712345678⟧
identity number | 身份证号⟦11010519491231002X⟧
identity number | His Chinese ID is ⟦440308199901010012⟧.
identity number | 身份证：⟦１１０１０５１９４９１２３１００２Ｘ⟧
identity number | 证件号码 ⟦110105 19491231 002x⟧ 已登记
account | My IBAN is ⟦DE89 3704 0044 0532 0130 00⟧.
account | Send the rent to ⟦GB82WEST12345698765432⟧ by Friday
account | IBAN ⟦FR14 2004 1010 0505 0001 3M02 606⟧ BIC later
account | 汇款账号 ⟦NL91ABNA0417164300⟧
social security number | My SSN is ⟦123-45-6789⟧.
social security number | social security number: ⟦219099999⟧
social security number | ⟦123-45-6789⟧ is her SSN
"""

NEGATIVE = """
The order number is 4111111111111111.
订单号 4111111111111111 已发货
Order 13812345678 ships on Friday.
运单号：13912345678
快递单号 YT13812345678901
工单编号18612345678已关闭
Tracking number 9400111899223197428490
IMEI 490154203237518
ISBN 978-3-16-148410-0
The date is 2026-05-04.
Meet on 2026-05-04 at 15:30.
Released 2026-05-04T10:00:00Z.
会议改到2026年5月4日下午3点
Version 1.12.4 fixes it.
We run Python 3.12.4 and SQLite 3.51.3.
升级到 2.10.13 版本
Commit 9f8e7d6c5b4a392817060f1e2d3c4b5a69788796 broke it.
git show 41111111a
SHA-256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
MD5 d41d8cd98f00b204e9800998ecf8427e is empty
id 550e8400-e29b-41d4-a716-446655440000
019e2f1a-a827-7000-a8e3-25946badddbe
Call extension 4471.
Dial 555-0123 ext. 88.
分机号8021
The years 1998, 2004 and 2026 were warm.
从1998年到2026年
The timestamp is 1767225600.
timestamp 1767225600123
Epoch 1767225600123456 in microseconds
It costs 1,234,567,890 dollars.
营收1234567890元
The population is 13,812,345,678.
pi is 3.14159265358979
0.4111111111111111 of the whole
GPS 39.9042, 116.4074
The IP is 192.168.100.200 and the mask 255.255.255.0
Port 8443 is taken.
端口8443被占用
Room 1204, floor 12
房间号1204
The password is wrong.
The password is required.
The password is stored in the vault.
My password is expired again
The guest wifi password is valid this week.
Password: required
Please reset your password.
password: str
password = getpass()
password=os.environ["DB_PASSWORD"]
password: ********
password=<your password>
Passwords must have 12 characters.
The password policy is strict.
I forgot my password and token budget is low.
The passphrase is stored in the vault.
密码错误3次会锁定
密码是必填项
密码长度为8到16位
密码忘了，请重置
密码2024年更新过一次
口令已过期
密码：******
验证码功能下周三上线
验证码错误
验证码有6位
验证码2026年上线
验证码登录2024版
The verification code is valid for ten minutes.
Your code is 2000 lines long.
Your code review is due in 5000 hours.
The error code is 500123.
Your promo code is SAVE2026
Your tracking code is 48213377
The zip code is 94105.
The code has 1200 tests.
Country code 0086
API keys rotate every 90 days.
The API key is in the vault.
The token budget is 4096.
The token is 1000 characters long.
max_tokens: 4096
The secret to good tea is patience.
The key is under the mat.
The key question is 2026 revenue.
PIN diodes are cheap.
Press pin 12 on the board.
https://example.com/a@b
git@github.com:acme/app.git
mailto:alice@example.com
The SSN field is optional.
Part 123-45-6789 is out of stock.
Case 219099999 was closed.
IBAN numbers are long.
AB12 CDEF 3456 is a part number
XX82WEST12345698765432
US phone +1 555 123 4567
+15551234567
电话 010-62345678
400-800-8888 客服热线
QQ 1381234567
440308199901010013 的校验位不对
11010519491231002Y
The serial is 5555555555554444.
A card has 16 digits, mine begins with 4111.
Room 4, 1111 people, 1111 chairs
2026-05-04 4111 1111
1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
"""


def positives() -> list[tuple[str, str, str]]:
    """Give type, text, and what is sensitive in it."""
    found = []
    for line in POSITIVE.strip().splitlines():
        kind, _, marked = line.partition(" | ")
        marked = marked.replace(r"\n", "\n").replace(r"\u200b", "\u200b")
        start, end = marked.index("⟦"), marked.index("⟧")
        found.append((kind, marked.replace("⟦", "").replace("⟧", ""), marked[start + 1 : end]))
    return found


def negatives() -> list[str]:
    """Give texts in which nothing is sensitive."""
    return NEGATIVE.strip().splitlines()
